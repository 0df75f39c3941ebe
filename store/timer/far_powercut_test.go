package timer_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
)

// TestPowerCut_NoFarMessageIsLost cuts the power wherever something becomes durable, of additions,
// splits, sorts, checkpoints and recoveries, and has everything delivered from what is left:
// with the checkpoint or without, and while the log has only what a checkpoint needs.
func TestPowerCut_NoFarMessageIsLost(t *testing.T) {
	t.Parallel()
	want := 150
	if text := os.Getenv("WHEELMQ_CRASH_CLONES"); text != "" {
		var err error
		if want, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	cuts, seed := 0, uint64(0)
	for ; cuts < want; seed++ {
		w := &cutWorkload{rng: rand.New(rand.NewPCG(seed, 7)), cuts: &cuts, want: min(want, cuts+want/10+1), every: 3 + 4*int(seed%8)}
		if err := w.run(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	t.Logf("%d power cuts of %d workloads", cuts, seed)
}

// cutWorkload drives a Timeline on a memory disk whose power is cut on clones.
type cutWorkload struct {
	rng   *rand.Rand
	disk  *region.Memory
	d     *driver
	log   []logged
	cuts  *int
	want  int
	depth int
	every int   // sync points to one power cut
	err   error // of the first clone that did not recover
}

func (w *cutWorkload) run() error {
	w.disk = region.NewMemory()
	w.disk.OnSync(w.cut)
	w.d = newDriver(w.disk, &w.log, 8192)
	w.d.now = noon
	if err := w.d.open(anyEnd); err != nil {
		return err
	}
	for range 30 {
		if *w.cuts >= w.want {
			break
		}
		if err := w.step(); err != nil {
			return err
		}
		if w.err != nil {
			return w.err
		}
	}
	return nil
}

func (w *cutWorkload) step() error {
	switch w.rng.IntN(6) {
	case 0, 1:
		send(w.rng, &w.log, w.d.now, 1+w.rng.IntN(40))
		return w.d.take()
	case 2, 3:
		if err := w.d.save(); err != nil {
			return err
		}
		if w.rng.IntN(2) == 0 {
			w.d.expire()
		}
		return nil
	case 4:
		w.disk.WriteBack(w.rng)
		return nil
	default:
		return w.d.deliver(w.d.now + []int64{600, 4000, 40_000, 200_000}[w.rng.IntN(4)])
	}
}

// cut looks at what a power cut now would leave.
func (w *cutWorkload) cut() {
	if w.err != nil || *w.cuts >= w.want || w.rng.IntN(w.every) > 0 {
		return
	}
	*w.cuts++
	if err := w.recover(w.disk.PowerCut(w.rng)); err != nil {
		w.err = fmt.Errorf("power cut %d: %w", *w.cuts, err)
	}
}

// recover has everything delivered from what a power cut left.
func (w *cutWorkload) recover(left *region.Memory) error {
	c := &cutWorkload{rng: w.rng, disk: left, log: slices.Clone(w.log), cuts: w.cuts, depth: w.depth + 1, want: w.want, every: 16}
	c.d = newDriver(left, &c.log, 8192)
	c.d.now, c.d.done = w.d.now, maps.Clone(w.d.done)
	if w.rng.IntN(4) == 0 {
		if err := errors.Join(left.Remove(checkpoint), left.SyncDir("timer")); err != nil {
			return err
		}
	}
	if c.depth < 2 && w.rng.IntN(4) == 0 {
		left.OnSync(c.cut)
	}
	for _, step := range []func() error{
		func() error { return c.d.open(anyEnd) },
		c.d.take,
		c.d.save,
		func() error { return c.d.deliver(w.d.now + 100*86_400) },
		func() error { return c.err },
		func() error { return c.d.complete(w.d.done) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return c.d.tl.Close()
}
