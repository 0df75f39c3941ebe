package timer_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestTimeline_IsASortedList compares a Timeline with a list over everything that its owner does,
// power cuts among it.
func TestTimeline_IsASortedList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		choice := rapid.Uint32()
		pick := func(n int) int { return int(choice.Draw(t, "choice") % uint32(n)) }
		if err := live(pick, rapid.Uint64().Draw(t, "seed"), "", 20+pick(200)); err != nil {
			t.Fatal(err)
		}
	})
}

// TestTimeline_ManyPowerCuts does the same for longer, from seeds.
func TestTimeline_ManyPowerCuts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		if err := live(rand.New(rand.NewPCG(seed, 3)).IntN, seed, "", 400); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestTimeline_PlantedMistakesAreFound shows that the comparison can fail.
func TestTimeline_PlantedMistakesAreFound(t *testing.T) {
	t.Parallel()
	for _, plant := range []string{"no sync", "saved before synced", "files go before the checkpoint"} {
		t.Run(plant, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(60) {
				if live(rand.New(rand.NewPCG(seed, 3)).IntN, seed, plant, 600) != nil {
					return
				}
			}
			t.Error("nobody noticed")
		})
	}
}

// live is a life of so many steps.
func live(pick func(n int) int, seed uint64, plant string, steps int) error {
	w, err := newWorld(pick, seed, plant)
	if err != nil {
		return err
	}
	for range steps {
		if err := w.step(); err != nil {
			return err
		}
	}
	w.disk.SetLimit(0)
	return errors.Join(w.checkAll(w.tl, &w.model), w.failed)
}
