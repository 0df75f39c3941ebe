package store

import (
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

// slowDisk is a memory FS whose syncs, once it is slow, hang until leave is closed.
type slowDisk struct {
	region.FS
	slow         atomic.Bool
	began, leave chan struct{}
}

type slowRegion struct {
	region.Region
	disk *slowDisk
}

func (d *slowDisk) Open(name string, size int) (region.Region, error) {
	r, err := d.FS.Open(name, size)
	return slowRegion{r, d}, err
}

func (r slowRegion) Sync(from, to int) error {
	if !r.disk.slow.Load() {
		return r.Region.Sync(from, to)
	}
	select {
	case r.disk.began <- struct{}{}:
	default:
	}
	<-r.disk.leave
	return r.Region.Sync(from, to)
}

type told chan PutResult

func (c told) PutDone(res PutResult) { c <- res }

// TestStore_SyncFlushTimeout_AnswersAndPublishesLater has a disk that hangs: the put under way
// and the one that waits behind it are answered when their time is up, once each; both become
// readable when the disk comes round.
func TestStore_SyncFlushTimeout_AnswersAndPublishesLater(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(1_000)
	disk := &slowDisk{FS: region.NewMemory(), began: make(chan struct{}, 1), leave: make(chan struct{})}
	opts := quietOptions("")
	opts.FS, opts.SyncFlush, opts.Wire, opts.SyncFlushTimeoutMs = disk, true, v, 5_000
	opts.FlushIntervalMs, opts.FlushThoroughMs = 1_000_000, 1_000_000
	opts.Retention = DefaultRetention()
	opts.Retention.IntervalMs = 1_000_000
	s := started(t, opts)
	put := func(topic, body string) told {
		got := make(told, 2)
		rec := message.Record{Topic: topic, Body: []byte(body)}
		if _, pending := s.Put(&rec, got); !pending {
			t.Fatal("the put did not wait")
		}
		return got
	}
	// The first record makes files, which is synced too.
	if res := <-put("W", "warm"); res.Status != PutOK {
		t.Fatalf("%+v", res)
	}
	disk.slow.Store(true)
	first := put("T", "first")
	<-disk.began
	eventually(t, "the watch is on", func() bool { at, armed := v.Next(); return armed && at <= 6_000 })
	v.Set(3_000)
	second := put("T", "second")
	v.Set(6_000)
	if res := <-first; res.Status != FlushDiskTimeout || !res.OK() {
		t.Errorf("the first: %+v", res)
	}
	if len(second) != 0 {
		t.Error("the second was answered before its time")
	}
	if q := s.Queue([]byte("T"), 0); q.Max() != 0 {
		t.Error("what is not durable is readable")
	}
	eventually(t, "the watch is on for the second", func() bool { at, armed := v.Next(); return armed && at <= 11_000 })
	v.Set(11_000)
	if res := <-second; res.Status != FlushDiskTimeout {
		t.Errorf("the second: %+v", res)
	}
	close(disk.leave)
	eventually(t, "both are readable", func() bool { return s.Queue([]byte("T"), 0).Max() == 2 })
	if len(first)+len(second) != 0 || s.Stats().FlushTimeouts != 2 {
		t.Errorf("answered again, or not counted: %+v", s.Stats())
	}
	if res := <-put("T", "third"); res.Status != PutOK {
		t.Errorf("the third: %+v", res)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
