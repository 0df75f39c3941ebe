package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// TestStore_DamageInside_CostsOnlyWhatIsDamaged breaks one record in the middle of what was
// durable: the records behind it stay.
func TestStore_DamageInside_CostsOnlyWhatIsDamaged(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]int64{"size": 0, "magic": 4, "body": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := mustOpen(t, options(dir))
			fill(t, s, 0, 10)
			hurt, _ := s.Put(record(10), nil)
			fill(t, s, 11, 10)
			end := s.MaxCommitLogOffset()
			mustClose(t, s)
			overwrite(t, filepath.Join(dir, "commitlog", fmt.Sprintf("%020d", 0)), hurt.CommitLogOffset+at, []byte{0xEE, 0xEE, 0xEE, 0xEE})
			write(t, dir, "abort", "1")
			s = mustOpen(t, options(dir))
			defer mustClose(t, s)
			if got := s.MaxCommitLogOffset(); got != end {
				t.Fatalf("the log ends at %d, want %d", got, end)
			}
			for id, want := range map[int32]int64{0: 11, 1: 10} {
				if q := s.Queue([]byte("T"), id); q == nil || q.Max() != want {
					t.Errorf("queue %d: %v, want %d units", id, q, want)
				}
			}
		})
	}
}

// TestStore_DeletedTopic_StaysDeleted restarts in every way after a topic was deleted and
// made anew: its first life must not come back.
func TestStore_DeletedTopic_StaysDeleted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		clean, rebuild bool
	}{"clean": {true, false}, "killed": {false, false}, "rebuilt": {true, true}, "killed and rebuilt": {false, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := mustOpen(t, options(dir))
			fill(t, s, 0, 100)
			old := s.Queue([]byte("T"), 0)
			if err := s.DeleteTopic("T"); err != nil {
				t.Fatal(err)
			}
			if n, err := old.Units(0, make([]store.Unit, 4)); n != 0 || err != nil {
				t.Fatalf("a deleted queue reads %d units, %v", n, err)
			}
			fill(t, s, 0, 6)
			if !c.clean {
				copied := filepath.Join(t.TempDir(), "copy")
				if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
				dir = copied
			}
			mustClose(t, s)
			if c.rebuild {
				remove(t, dir, "consumequeue")
			}
			s = mustOpen(t, options(dir))
			verifyFrom(t, s, 6)
			mustClose(t, s)
		})
	}
}

// verifyFrom is verify for a topic whose records follow others in the log.
func verifyFrom(t *testing.T, s *store.Store, n int) {
	t.Helper()
	verify(t, s, n)
	for _, q := range s.Queues("T") {
		if q.Min() != 0 {
			t.Errorf("queue %d begins at %d", q.QueueID(), q.Min())
		}
	}
}

// TestStore_ReaderSeesNothingUnreadable has a reader follow a queue while it is written to:
// a unit must never be there before its record.
func TestStore_ReaderSeesNothingUnreadable(t *testing.T) {
	t.Parallel()
	for _, syncFlush := range []bool{false, true} {
		t.Run(fmt.Sprint("sync ", syncFlush), func(t *testing.T) {
			t.Parallel()
			opts := options(t.TempDir())
			opts.SyncFlush = syncFlush
			s := mustOpen(t, opts)
			defer mustClose(t, s)
			const n = 2000
			var wg sync.WaitGroup
			wg.Go(func() {
				for i := range n {
					rec := record(i)
					rec.QueueID = 0
					if res, _ := s.Put(rec, nil); !res.OK() {
						t.Errorf("put %d: %+v", i, res)
						return
					}
				}
			})
			units := make([]store.Unit, 32)
			for at := int64(0); at < n && !t.Failed(); {
				q := s.Queue([]byte("T"), 0)
				if q == nil {
					continue
				}
				got, err := q.Units(at, units)
				if err != nil {
					t.Error(err)
				}
				for _, u := range units[:got] {
					slice, err := s.Record(u.CommitLogOffset, 0)
					if err != nil {
						t.Errorf("unit %d: %v", at, err)
						break
					}
					if v, err := message.ParseVerify(slice.Bytes); err != nil || v.QueueOffset != at {
						t.Errorf("unit %d: %d, %v", at, v.QueueOffset, err)
					}
					slice.Release()
					at++
				}
			}
			wg.Wait()
		})
	}
}

func TestStore_PutBatch_IsOneUnit(t *testing.T) {
	t.Parallel()
	var arrived []int64
	opts := options(t.TempDir())
	opts.OnArrival = func(a store.Arrival) { arrived = append(arrived, a.Offset) }
	s := mustOpen(t, opts)
	defer mustClose(t, s)
	batch := make([]message.Record, 250) // more than two queue files
	for i := range batch {
		batch[i] = *record(0)
		batch[i].Body = []byte("b")
	}
	res, pending := s.PutBatch(batch, nil)
	if pending || !res.OK() || res.QueueOffset != 0 {
		t.Fatalf("%+v, pending %v", res, pending)
	}
	next := res.CommitLogOffset
	for i := range batch {
		if r := &batch[i]; r.QueueOffset != int64(i) || r.CommitLogOffset != next || arrived[i] != int64(i) {
			t.Fatalf("record %d: queue offset %d, log offset %d, want %d", i, r.QueueOffset, r.CommitLogOffset, next)
		}
		next += int64(res.Size)
	}
	before := s.MaxCommitLogOffset()
	for name, spoil := range map[string]func([]message.Record){
		"a body too large":   func(b []message.Record) { b[1].Body = make([]byte, 33<<10) },
		"two queues":         func(b []message.Record) { b[1].QueueID = 1 },
		"a half message":     func(b []message.Record) { b[1].SysFlag = message.SysFlagPrepared },
		"together too large": func(b []message.Record) { b[0].Body, b[1].Body = make([]byte, 20<<10), make([]byte, 20<<10) },
	} {
		bad := []message.Record{*record(0), *record(0)}
		spoil(bad)
		if res, _ := s.PutBatch(bad, nil); res.Status != store.MessageIllegal {
			t.Errorf("%s: status %d", name, res.Status)
		}
	}
	if got := s.MaxCommitLogOffset(); got != before {
		t.Errorf("refused batches moved the log's end from %d to %d", before, got)
	}
}

func TestStore_TopicsThatAreNoNames_AreRefused(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, options(t.TempDir()))
	defer mustClose(t, s)
	for _, topic := range []string{"", ".", "..", "../x", "a/b", `a\b`, "a\x00"} {
		rec := record(0)
		rec.Topic = topic
		if res, _ := s.Put(rec, nil); res.Status != store.MessageIllegal {
			t.Errorf("topic %q: status %d", topic, res.Status)
		}
		if err := s.DeleteTopic(topic); err == nil {
			t.Errorf("topic %q was deleted", topic)
		}
	}
}

func TestStore_AfterClose_NothingIsServedAndNothingCrashes(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, options(t.TempDir()))
	fill(t, s, 0, 4)
	q := s.Queue([]byte("T"), 0)
	u, _ := q.Unit(0)
	mustClose(t, s)
	if res, _ := s.Put(record(4), nil); res.Status != store.ServiceNotAvailable {
		t.Errorf("put: %+v", res)
	}
	if _, ok := q.Unit(0); ok {
		t.Error("a unit is served")
	}
	if _, err := s.Record(u.CommitLogOffset, u.Size); err == nil {
		t.Error("a record is served")
	}
	if err := s.DeleteTopic("T"); err == nil {
		t.Error("a topic is deleted")
	}
	mustClose(t, s)
}

func TestStore_ForeignDirectories_AreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "batchconsumequeue", "T", "0"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(options(dir)); !errors.Is(err, store.ErrUnsupported) {
		t.Fatalf("got %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("Open wrote before it refused: %v, %v", entries, err)
	}
}

// brokenDisk is a memory FS whose log cannot be synced once broken.
type brokenDisk struct {
	region.FS
	mu     sync.Mutex
	broken bool
}

type brokenRegion struct {
	region.Region
	disk *brokenDisk
}

var errDisk = errors.New("disk on fire")

func (d *brokenDisk) Open(name string, size int) (region.Region, error) {
	r, err := d.FS.Open(name, size)
	return brokenRegion{r, d}, err
}

func (r brokenRegion) Sync(from, to int) error {
	r.disk.mu.Lock()
	defer r.disk.mu.Unlock()
	if r.disk.broken {
		return errDisk
	}
	return r.Region.Sync(from, to)
}

func TestStore_AfterAFailedSync_NothingIsAcknowledged(t *testing.T) {
	t.Parallel()
	disk := &brokenDisk{FS: region.NewMemory()}
	opts := options("")
	opts.FS, opts.SyncFlush = disk, true
	s := mustOpen(t, opts)
	put := func() store.PutResult {
		got := make(result, 1)
		if res, pending := s.Put(record(0), got); !pending {
			return res
		}
		return <-got
	}
	if res := put(); !res.OK() {
		t.Fatalf("before: %+v", res)
	}
	disk.mu.Lock()
	disk.broken = true
	disk.mu.Unlock()
	if res := put(); res.Status != store.ServiceNotAvailable {
		t.Fatalf("while broken: %+v", res)
	}
	disk.mu.Lock()
	disk.broken = false
	disk.mu.Unlock()
	if res := put(); res.Status != store.ServiceNotAvailable {
		t.Fatalf("after: %+v", res)
	}
	if err := s.Writable(); !errors.Is(err, errDisk) {
		t.Errorf("Writable: %v", err)
	}
	if max := s.Queue([]byte("T"), 0).Max(); max != 1 {
		t.Errorf("%d records are readable, want 1", max)
	}
	if err := s.Close(); !errors.Is(err, errDisk) {
		t.Errorf("Close: %v", err)
	}
}

type result chan store.PutResult

func (r result) PutDone(res store.PutResult) { r <- res }

func overwrite(t *testing.T, path string, at int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkUnits(b *testing.B) {
	s := mustOpen(b, options(b.TempDir()))
	defer mustClose(b, s)
	fill(b, s, 0, 128)
	topic, units := []byte("T"), make([]store.Unit, 32)
	b.ReportAllocs()
	for b.Loop() {
		if n, err := s.Queue(topic, 0).Units(8, units); n != 32 || err != nil {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	s := mustOpen(b, options(b.TempDir()))
	defer mustClose(b, s)
	fill(b, s, 0, 128)
	u, _ := s.Queue([]byte("T"), 0).Unit(7)
	b.ReportAllocs()
	for b.Loop() {
		slice, err := s.Record(u.CommitLogOffset, u.Size)
		if err != nil {
			b.Fatal(err)
		}
		slice.Release()
	}
}
