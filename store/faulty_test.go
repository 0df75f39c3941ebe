package store_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// switches are the faults of a test.
type switches struct{ full, unsynced atomic.Bool }

func (s *switches) NoSpace() error {
	if s.full.Load() {
		return errors.New("(by a test)")
	}
	return nil
}

func (s *switches) NoSync() error {
	if s.unsynced.Load() {
		return errors.New("input/output error (by a test)")
	}
	return nil
}

// faulty are options of a store whose disk obeys the switches.
func faulty(dir string, s *switches) store.Options {
	opts := options(dir)
	if dir == "" {
		opts.Memory = region.NewMemory()
	}
	opts.Wrap = func(fs region.FS) region.FS { return region.NewFaulty(fs, s) }
	return opts
}

// A disk that a test fills refuses clients at the next put, not at the next look; what is the
// broker's own goes on for as long as the reserve lasts; nothing is deleted; and when the test
// ends it, everything goes on at once.
func TestStore_FullByAFault(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"memory": "", "disk": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var why switches
			s := mustOpen(t, faulty(dir, &why))
			defer mustClose(t, s)
			fill(t, s, 0, 10)
			why.full.Store(true)
			s.CheckSpace()
			if res, _ := s.Put(record(10), nil); res.Status != store.ServiceNotAvailable || !strings.Contains(res.Reason, "no space left on the device (by a test)") {
				t.Fatalf("%+v", res)
			}
			own := func(n int) store.PutResult {
				rec := record(n)
				rec.Topic, rec.Internal = "own", true
				res, _ := s.Put(rec, nil)
				return res
			}
			for i := range 4 {
				if res := own(i); !res.OK() {
					t.Fatalf("the broker's own: %+v", res)
				}
			}
			if st := s.Stats(); !strings.Contains(st.DiskFull, "(by a test)") {
				t.Errorf("%+v", st)
			}
			why.full.Store(false)
			s.CheckSpace()
			fill(t, s, 10, 10)
			verify(t, s, 20)
			if st := s.Stats(); st.DiskFull != "" {
				t.Errorf("%+v", st)
			}
		})
	}
}

// After a sync that failed the store refuses everything, whatever the disk does then, until it
// is opened again; that has all that was acknowledged.
func TestStore_SyncFailsByAFault(t *testing.T) {
	t.Parallel()
	for name, synced := range map[string]bool{"ASYNC_FLUSH": false, "SYNC_FLUSH": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var why switches
			broken := make(chan error, 1)
			opts := faulty("", &why)
			opts.SyncFlush, opts.FlushIntervalMs = synced, 10
			opts.OnBroken = func(err error) { broken <- err }
			s := mustOpen(t, opts)
			put := func(n int) store.PutResult {
				done := make(chan store.PutResult, 1)
				res, pending := s.Put(record(n), completion(func(res store.PutResult) { done <- res }))
				if pending {
					res = <-done
				}
				return res
			}
			for i := range 4 {
				if res := put(i); !res.OK() {
					t.Fatalf("%+v", res)
				}
			}
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
			why.unsynced.Store(true)
			// Under ASYNC_FLUSH it is accepted, and lost if the power goes.
			if res := put(4); res.OK() == synced {
				t.Errorf("%+v", res)
			}
			if err := <-broken; !strings.Contains(err.Error(), "(by a test)") {
				t.Error(err)
			}
			why.unsynced.Store(false)
			if res := put(5); res.Status != store.ServiceNotAvailable || !strings.Contains(res.Reason, "input/output error (by a test)") {
				t.Errorf("%+v", res)
			}
			if err := s.Close(); !errors.Is(s.Writable(), store.ErrBroken) || !errors.Is(err, store.ErrBroken) {
				t.Errorf("the store does not tell that it is broken: %v", err)
			}
			s = mustOpen(t, opts)
			defer mustClose(t, s)
			if n := s.Queue([]byte("T"), 0).Max(); n < 2 {
				t.Errorf("%d records", n)
			}
			if res := put(6); !res.OK() {
				t.Errorf("after the start: %+v", res)
			}
		})
	}
}

// A store in a directory stays locked under its faults.
func TestStore_FaultyIsLocked(t *testing.T) {
	t.Parallel()
	opts := faulty(t.TempDir(), new(switches))
	s := mustOpen(t, opts)
	defer mustClose(t, s)
	if _, err := store.Open(opts); !errors.Is(err, store.ErrLocked) {
		t.Errorf("%v", err)
	}
}

type completion func(store.PutResult)

func (c completion) PutDone(res store.PutResult) { c(res) }
