package timer_test

import (
	"math"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer"
)

// TestFar_NothingIsLeftBehindTheEnd opens by a state that names three of many records, and then by
// none: on every kind of disk the others are gone.
func TestFar_NothingIsLeftBehindTheEnd(t *testing.T) {
	t.Parallel()
	for name, fs := range map[string]region.FS{"os": region.OS{Root: t.TempDir()}, "memory": region.NewMemory()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(saved *timer.State) *timer.Timeline {
				t.Helper()
				tl, err := timer.Open(options(fs), saved, math.MaxInt64)
				if err != nil {
					t.Fatal(err)
				}
				tl.Prepare(noon * 1000)
				return tl
			}
			tl, offset := open(nil), int64(0)
			add := func(n int) {
				t.Helper()
				for range n {
					second := int64(noon + 200*3600)
					e := timer.Entry{Due: second*1000 + 1, LogOffset: offset, Size: 200}
					if err := tl.Add(e, second, recordOf(offset, 200)); err != nil {
						t.Fatal(err)
					}
					offset += 200
				}
			}
			add(3)
			saved, err := tl.State()
			if err == nil {
				err = tl.Sync()
			}
			if err != nil {
				t.Fatal(err)
			}
			add(300)
			for i, want := range []int64{303, 3, 3} {
				if err := tl.Close(); err != nil {
					t.Fatal(err)
				}
				by := saved
				if i != 1 {
					by = nil
				}
				tl = open(by)
				if stats := tl.Stats(); stats.Far != want || stats.Damaged != 0 {
					t.Fatalf("open %d: %d far entries, %d damaged, want %d", i, stats.Far, stats.Damaged, want)
				}
			}
			if err := tl.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
