package store_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// TestStore_AsyncFlush_ByTheClock turns the store's clock: nothing is flushed before the
// interval, all after it, and an idle store waits for no instant.
func TestStore_AsyncFlush_ByTheClock(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(1_000)
	opts := options("")
	opts.Memory, opts.Clock, opts.Retention = region.NewMemory(), v, seldomCleaned()
	s := mustOpen(t, opts)
	defer mustClose(t, s)
	if at, armed := nextFlush(v); armed {
		t.Fatalf("an idle store waits for %d", at)
	}
	fill(t, s, 0, 3)
	if at := awaitArmed(t, v); at != 1_500 {
		t.Fatalf("the flusher waits for %d, want 1500", at)
	}
	if got := s.Stats(); got.FlushedOffset != 0 || got.DirtyBytes != got.MaxOffset || got.Puts != 3 {
		t.Errorf("before: %+v", got)
	}
	v.Set(1_500)
	until(t, func() bool { return s.FlushedOffset() == s.MaxCommitLogOffset() })
	for now := int64(2_000); now <= 20_000; now += 500 {
		awaitQuiet(t, v, now-500)
		v.Set(now)
	}
	until(t, func() bool { _, armed := nextFlush(v); return !armed })
	crashed := opts
	crashed.Memory = opts.Memory.Crash()
	again := mustOpen(t, crashed)
	verify(t, again, 3)
	mustClose(t, again)
}

func TestStore_FewDirtyPages_WaitForTheThoroughFlush(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(1_000)
	opts := options("")
	opts.Memory, opts.Clock, opts.FlushLeastPages, opts.FlushThoroughMs = region.NewMemory(), v, 4, 2_000
	opts.Retention = seldomCleaned()
	s := mustOpen(t, opts)
	defer mustClose(t, s)
	fill(t, s, 0, 3)
	for now := int64(1_500); now < 3_000; now += 500 {
		if at := awaitArmed(t, v); at != now {
			t.Fatalf("the flusher waits for %d, want %d", at, now)
		}
		v.Set(now)
	}
	awaitArmed(t, v)
	if got := s.FlushedOffset(); got != 0 {
		t.Errorf("%d bytes were flushed", got)
	}
	v.Set(3_000)
	until(t, func() bool { return s.FlushedOffset() == s.MaxCommitLogOffset() })
}

// seldom is when the disk is looked at in these tests, ms.
const seldom = 1_000_000

func seldomCleaned() store.Retention {
	r := store.DefaultRetention()
	r.IntervalMs = seldom
	return r
}

// nextFlush is the instant that the flusher waits for.
func nextFlush(v *clock.Virtual) (at int64, armed bool) {
	at, armed = v.Next()
	return at, armed && at < seldom
}

// awaitQuiet waits until the flusher sleeps or waits for an instant later than now.
func awaitQuiet(t *testing.T, v *clock.Virtual, now int64) {
	t.Helper()
	until(t, func() bool { at, armed := nextFlush(v); return !armed || at > now })
}

func awaitArmed(t *testing.T, v *clock.Virtual) (at int64) {
	t.Helper()
	until(t, func() (armed bool) { at, armed = nextFlush(v); return armed })
	return at
}

func until(t *testing.T, condition func() bool) {
	t.Helper()
	await.Until(t, "the condition", condition)
}

// TestStore_HalfRecords_HaveNoUnit keeps queues the same when they are rebuilt.
func TestStore_HalfRecords_HaveNoUnit(t *testing.T) {
	t.Parallel()
	for _, flag := range []int32{0x4, 0xC} {
		s := mustOpen(t, options(t.TempDir()))
		fill(t, s, 0, 2)
		half := record(2)
		half.SysFlag = flag
		if res, _ := s.Put(half, nil); !res.OK() || res.QueueOffset != 0 {
			t.Errorf("flag %#x: %+v", flag, res)
		}
		fill(t, s, 2, 2)
		verify(t, s, 4)
		mustClose(t, s)
	}
}

var _ store.Log = (*store.Store)(nil)
