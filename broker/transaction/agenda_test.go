package transaction

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestAgenda takes out what was put in by the instants it is due at, ended ones swept out or not.
func TestAgenda(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 50, sweepFrom - 1, sweepFrom, 2 * sweepFrom}).Draw(t, "n")
		dues := rapid.SliceOfN(rapid.Int64Range(0, 50), n, n).Draw(t, "due")
		ended := rapid.Int64Range(1, 8).Draw(t, "one open of")
		isOpen := func(offset int64) bool { return offset%ended == 0 }
		var a agenda
		var want []entry
		for i, due := range dues {
			e := entry{due: due, offset: int64(i)}
			a.push(e)
			if isOpen(e.offset) {
				want = append(want, e)
			}
		}
		a.sweep(int64(len(want)), isOpen)
		if n := len(a.entries); n >= sweepFrom && n > 2*len(want) {
			t.Fatalf("%d entries are kept of %d open ones", n, len(want))
		}
		slices.SortFunc(want, func(x, y entry) int {
			if before(x, y) {
				return -1
			}
			return 1
		})
		var got []entry
		for len(a.entries) > 0 {
			if e := a.pop(); isOpen(e.offset) {
				got = append(got, e)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d came out of %d, or in another order", len(got), len(want))
		}
	})
}
