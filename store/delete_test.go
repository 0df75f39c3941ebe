package store_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// stoppingDisk is a memory FS that may be made to stop at a change of one name, or to fail there.
type stoppingDisk struct {
	*region.Memory
	mu      sync.Mutex
	name    string // of what is changed, a prefix; "": nothing stops
	fails   bool
	stopped chan struct{} // closed when it has stopped
	goOn    chan struct{}
}

// stopAt makes the next change of a name wait until goOn is closed.
func (d *stoppingDisk) stopAt(name string, fails bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.name, d.fails, d.stopped, d.goOn = name, fails, make(chan struct{}), make(chan struct{})
}

func (d *stoppingDisk) wait(name string) error {
	d.mu.Lock()
	if d.name == "" || !strings.HasPrefix(name, d.name) {
		d.mu.Unlock()
		return nil
	}
	d.name = ""
	fails, stopped, goOn := d.fails, d.stopped, d.goOn
	d.mu.Unlock()
	close(stopped)
	<-goOn
	if fails {
		return errDisk
	}
	return nil
}

func (d *stoppingDisk) Remove(name string) error {
	if err := d.wait(name); err != nil {
		return err
	}
	return d.Memory.Remove(name)
}

func (d *stoppingDisk) WriteFile(name string, data []byte) error {
	if err := d.wait(name); err != nil {
		return err
	}
	return d.Memory.WriteFile(name, data)
}

// deletion is a topic that is being deleted and has come to a stop.
type deletion struct {
	*testing.T
	disk *stoppingDisk
	s    *store.Store
	done chan error
}

// beginDeletion deletes T, which has 4 queues, until the disk stops at a name.
func beginDeletion(t *testing.T, stopAt string, fails bool) *deletion {
	t.Helper()
	d := &deletion{T: t, disk: &stoppingDisk{Memory: region.NewMemory()}, done: make(chan error, 1)}
	d.s = d.open(d.disk)
	for id := range int32(4) {
		if res := d.put("T", id); !res.OK() {
			t.Fatalf("%+v", res)
		}
	}
	d.disk.stopAt(stopAt, fails)
	go func() { d.done <- d.s.DeleteTopic("T") }()
	<-d.disk.stopped
	return d
}

func (d *deletion) open(fs region.FS) *store.Store {
	d.Helper()
	opts := options("")
	opts.FS, opts.MessageIndexDisabled = fs, true
	// Nothing but the deletion writes.
	opts.FlushThoroughMs, opts.FlushIntervalMs = 1<<40, 1<<40
	return mustOpen(d, opts)
}

func (d *deletion) put(topic string, queueID int32) store.PutResult {
	rec := record(0)
	rec.Topic, rec.QueueID = topic, queueID
	res, _ := d.s.Put(rec, nil)
	return res
}

func (d *deletion) goOn() error {
	close(d.disk.goOn)
	return <-d.done
}

// holds fails unless the queues 0 … of T have that many records, from 0 on.
func (d *deletion) holds(s *store.Store, want ...int64) {
	d.Helper()
	for id, n := range want {
		q := s.Queue([]byte("T"), int32(id))
		if n == 0 && (q == nil || q.Max() == 0) {
			continue
		}
		if q == nil || q.Min() != 0 || q.Max() != n {
			d.Errorf("queue %d: %+v, want %d records", id, q, n)
			continue
		}
		for at := range n {
			u, ok := q.Unit(at)
			slice, err := s.Record(u.CommitLogOffset, u.Size)
			if !ok || err != nil {
				d.Errorf("queue %d: record %d: %v, %v", id, at, ok, err)
				continue
			}
			slice.Release()
		}
	}
}

// TestDeleteTopic_HoldsNobodyUp stores records while the files of a deleted topic are being removed.
func TestDeleteTopic_HoldsNobodyUp(t *testing.T) {
	t.Parallel()
	d := beginDeletion(t, "consumequeue/T/1", false)
	if res := d.put("other", 0); !res.OK() {
		t.Errorf("another topic: %+v", res)
	}
	// Queues 0 and 2 are new ones: files of the earlier queue 2 are there until its first record comes.
	for _, id := range []int32{0, 2, 2} {
		if res := d.put("T", id); !res.OK() {
			t.Errorf("the topic made anew, queue %d: %+v", id, res)
		}
	}
	killed := d.disk.Memory.Crash()
	if err := d.goOn(); err != nil {
		t.Fatal(err)
	}
	d.holds(d.s, 1, 0, 2, 0)
	if res := d.put("T", 3); !res.OK() || res.QueueOffset != 0 {
		t.Errorf("a queue made anew: %+v", res)
	}
	mustClose(t, d.s)
	d.s = d.open(d.disk)
	d.holds(d.s, 1, 0, 2, 1)
	mustClose(t, d.s)
	// What came after the deletion was not durable yet, the deletion was.
	again := d.open(killed)
	d.holds(again, 0, 0, 0, 0)
	mustClose(t, again)
}

// TestDeleteTopic_IsNotedFirst refuses records of the topic, and of no other, until the deletion is
// noted; one that cannot be noted has no effect.
func TestDeleteTopic_IsNotedFirst(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		d := beginDeletion(t, "config/wheelmqStore.json", fails)
		if res := d.put("other", 0); !res.OK() {
			t.Errorf("another topic: %+v", res)
		}
		if res := d.put("T", 0); res.Status != store.TopicLeaving || !strings.Contains(res.Reason, "being deleted") {
			t.Errorf("the topic: %+v", res)
		}
		d.holds(d.s, 1, 1, 1, 1)
		if err := d.goOn(); (err != nil) != fails {
			t.Errorf("fails: %v: %v", fails, err)
		}
		if res := d.put("T", 0); !res.OK() {
			t.Errorf("afterwards: %+v", res)
		}
		want := []int64{1, 0, 0, 0}
		if fails {
			want = []int64{2, 1, 1, 1}
		}
		d.holds(d.s, want...)
		mustClose(t, d.s)
		d.s = d.open(d.disk)
		d.holds(d.s, want...)
		mustClose(t, d.s)
	}
}

// TestDeleteTopic_LeavesNoDirectory but that of a topic that is made anew meanwhile.
func TestDeleteTopic_LeavesNoDirectory(t *testing.T) {
	t.Parallel()
	d := beginDeletion(t, "consumequeue/T/1", false)
	if err := d.goOn(); err != nil {
		t.Fatal(err)
	}
	entries, err := d.disk.List("consumequeue")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name == "T" {
			t.Error("the topic's directory is left")
		}
	}
	mustClose(t, d.s)
}
