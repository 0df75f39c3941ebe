package store_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/store"
)

// Store timestamps never go back in the order of the log: not when the clock of the next start
// is behind the last record, and not when the record behind which it is ends a log file.
func TestStoreTimestamps_NeverGoBackAcrossRestarts(t *testing.T) {
	t.Parallel()
	const now, hour = 1_800_000_000_000, 3_600_000
	for name, records := range map[string]int{"a record": 1, "a few files": 700, "a full file": 264} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := options(t.TempDir())
			opts.Clock = clock.NewVirtual(now + hour)
			s := mustOpen(t, opts)
			fill(t, s, 0, records)
			mustClose(t, s)
			for _, at := range []int64{now, now + hour/2, now + 2*hour} {
				opts.Clock = clock.NewVirtual(at)
				s = mustOpen(t, opts)
				want := max(at, now+hour)
				if got := mustPut(t, s, records).StoreTimestamp; got != want {
					t.Errorf("a clock at %d stamps with %d, want %d", at-now, got-now, want-now)
				}
				records++
				mustClose(t, s)
			}
		})
	}
}

func mustPut(t *testing.T, s *store.Store, n int) store.PutResult {
	t.Helper()
	res, pending := s.Put(record(n), nil)
	if pending || !res.OK() {
		t.Fatalf("put: %+v, pending %v", res, pending)
	}
	return res
}
