package timer_test

import (
	"maps"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/wheelmq/wheelmq/store/region"
)

// TestTimeline_DeliversWhatASortedListWould drives a Timeline at random, with ends and restarts,
// and compares with the log.
func TestTimeline_DeliversWhatASortedListWould(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		disk := region.NewMemory()
		var log []logged
		d := newDriver(disk, &log, rapid.SampledFrom([]int{4096, 16_384, 65_536}).Draw(t, "chunk"))
		d.now = noon
		if err := d.open(anyEnd); err != nil {
			t.Fatal(err)
		}
		before := map[int64]bool{}
		step := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"send": func(t *rapid.T) {
				send(rng, &log, d.now, rapid.IntRange(1, 100).Draw(t, "n"))
				step(d.take())
			},
			"deliver": func(t *rapid.T) {
				step(d.deliver(d.now + rapid.SampledFrom([]int64{1, 600, 4000, 40_000, 200_000}).Draw(t, "by")))
			},
			"save": func(*rapid.T) { step(d.save()) },
			"restart": func(t *rapid.T) {
				maps.Copy(before, d.done)
				step(d.tl.Close())
				again := newDriver(disk, &log, d.chunk)
				again.now = d.now
				if rapid.IntRange(0, 3).Draw(t, "state") == 0 {
					step(disk.Remove(checkpoint))
				}
				step(again.open(anyEnd))
				d = again
				step(d.take())
			},
		})
		step(d.deliver(d.now + 100*86_400))
		step(d.complete(before))
		if s := d.tl.Stats(); s.Pending() != 0 || s.Damaged != 0 {
			t.Fatalf("%+v", s)
		}
		step(d.tl.Close())
	})
}
