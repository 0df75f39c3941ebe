package store_test

import (
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
)

// countedDisk counts the syncs of one file or directory.
type countedDisk struct {
	region.FS
	syncs atomic.Int64
}

type countedRegion struct {
	region.Region
	disk *countedDisk
}

func (d *countedDisk) Open(name string, size int) (region.Region, error) {
	r, err := d.FS.Open(name, size)
	return countedRegion{r, d}, err
}

func (r countedRegion) Sync(from, to int) error {
	r.disk.syncs.Add(1)
	return r.Region.Sync(from, to)
}

func (d *countedDisk) SyncDir(dir string) error {
	d.syncs.Add(1)
	return d.FS.SyncDir(dir)
}

// TestRecovery_OfManyQueues_DoesNotSyncEach: a sync may take ten milliseconds, and a start thousands of
// queues.
func TestRecovery_OfManyQueues_DoesNotSyncEach(t *testing.T) {
	t.Parallel()
	const queues = 400
	memory := region.NewMemory()
	opts := options("")
	opts.Memory = memory
	s := mustOpen(t, opts)
	put := func(n int) {
		for i := range n {
			rec := record(0)
			rec.QueueID = int32(i)
			if res, _ := s.Put(rec, nil); !res.OK() {
				t.Fatal(res)
			}
		}
	}
	put(queues / 2)
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	put(queues) // half of them have files that the checkpoint knows nothing of
	disk := &countedDisk{FS: memory.Killed()}
	mustClose(t, s)
	opts.Memory, opts.FS = nil, disk
	s = mustOpen(t, opts)
	defer mustClose(t, s)
	if n := len(s.Queues("T")); n != queues {
		t.Errorf("%d queues are there, want %d", n, queues)
	}
	for _, q := range s.Queues("T") {
		want := int64(1)
		if q.QueueID() < queues/2 {
			want = 2
		}
		if q.Max() != want {
			t.Fatalf("queue %d ends at %d, want %d", q.QueueID(), q.Max(), want)
		}
	}
	if n := disk.syncs.Load(); n > queues/4 {
		t.Errorf("a start with %d queues took %d syncs", queues, n)
	}
}
