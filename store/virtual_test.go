package store_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

const virtualStart = 1_900_000_000_000

func virtualOptions(dir string, at int64) (store.Options, *clock.Virtual) {
	opts := options(dir)
	v := clock.NewVirtual(at)
	opts.Clock, opts.Wire, opts.Virtual = v, clock.Real{}, true
	return opts, v
}

// TestVirtual_Refused_ChangesNothing opens stores of the one clock with the other. The line says
// what to do, and the directory stays as it was.
func TestVirtual_Refused_ChangesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		virtual bool // who made it
		records int
		want    string // "" opens
	}{
		"virtual, empty":        {true, 0, "made with a virtual clock, which stands at 2030-03-17T17:46:40Z; start it with a virtual clock or take another directory"},
		"virtual, with records": {true, 700, "made with a virtual clock"},
		"real, empty":           {false, 0, ""},
		"real, with records":    {false, 1, "it has messages of the real clock; a virtual clock wants an empty directory"},
		"real, with files":      {false, 700, "it has messages of the real clock"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			real := options(dir)
			virtual, _ := virtualOptions(dir, virtualStart)
			makes, opens := real, virtual
			if c.virtual {
				makes, opens = virtual, real
			}
			s := mustOpen(t, makes)
			fill(t, s, 0, c.records)
			mustClose(t, s)
			before := fingerprint(t, dir)
			s, err := store.Open(opens)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				mustClose(t, s)
				return
			}
			if !errors.Is(err, store.ErrOtherClock) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if after := fingerprint(t, dir); after != before {
				t.Fatalf("the directory changed from\n%s\nto\n%s", before, after)
			}
			mustClose(t, mustOpen(t, makes))
		})
	}
}

func TestVirtual_WantsAVirtualClock(t *testing.T) {
	t.Parallel()
	opts := options(t.TempDir())
	opts.Virtual = true
	if _, err := store.Open(opts); err == nil {
		t.Fatal("a store of a virtual clock was opened with the real one")
	}
}

// TestVirtual_GoesOn puts the clock of the next start where the last one stood, whether that is
// before or after what the start brings.
func TestVirtual_GoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opts, v := virtualOptions(dir, virtualStart)
	s := mustOpen(t, opts)
	if v.NowMillis() != virtualStart {
		t.Fatalf("a new store moved its clock to %d", v.NowMillis())
	}
	fill(t, s, 0, 2)
	v.Set(virtualStart + 7_200_000)
	mustClose(t, s)
	for _, at := range []int64{0, virtualStart, virtualStart * 2} {
		opts, v = virtualOptions(dir, at)
		s = mustOpen(t, opts)
		if now := v.NowMillis(); now != virtualStart+7_200_000 {
			t.Errorf("a start at %d goes on at %d, want two hours after %d", at, now, virtualStart)
		}
		mustClose(t, s)
	}
}

// TestVirtual_PowerCut cuts the power at random moments. A real clock is refused whatever is left
// of the messages, and the virtual one is never behind them, nor behind what KeepNow noted.
func TestVirtual_PowerCut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 9))
		disk := region.NewMemory()
		opts, v := virtualOptions("", virtualStart)
		opts.Memory = disk
		// Nobody but this test writes to the disk.
		s, err := store.Open(opts)
		if err != nil {
			t.Fatal(err)
		}
		kept := int64(virtualStart)
		put := 0
		for range rng.IntN(30) {
			switch rng.IntN(4) {
			case 0:
				v.Set(v.NowMillis() + rng.Int64N(5_000_000))
			case 1:
				if err := s.KeepNow(); err != nil {
					t.Fatal(err)
				}
				kept = v.NowMillis()
			case 2:
				if err := s.Flush(); err != nil {
					t.Fatal(err)
				}
				kept = v.NowMillis()
			default:
				s.Put(record(put), nil)
				put++
			}
		}
		left := disk.PowerCut(rng)
		mustClose(t, s)

		opts, v = virtualOptions("", rng.Int64N(2*virtualStart))
		real := options("")
		real.Memory, opts.Memory = left, left
		if _, err := store.Open(real); !errors.Is(err, store.ErrOtherClock) || !strings.Contains(err.Error(), "the store in memory") {
			t.Fatalf("seed %d: the real clock opens what is left: %v", seed, err)
		}
		s = mustOpen(t, opts)
		last := kept
		if err := s.Scan(0, func(r *message.View) error {
			last = max(last, r.StoreTimestamp)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if now := v.NowMillis(); now < last || now > virtualStart+30*5_000_000 {
			t.Fatalf("seed %d: the clock goes on at %d, what is left needs %d", seed, now, last)
		}
		mustClose(t, s)
	}
}

// TestVirtual_Retention keeps expired files until they are asked for, on a full disk too.
func TestVirtual_Retention(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		opts, v := virtualOptions("", virtualStart)
		opts.Memory = region.NewMemory()
		opts.Retention = store.Retention{ReservedMs: 3_600_000, MaxRatio: -1, ForceRatio: -1, ForceEnabled: true, WarnRatio: 2, IntervalMs: 5, Keep: keep}
		s, err := store.Open(opts)
		if err != nil {
			t.Fatal(err)
		}
		fill(t, s, 0, 1500)
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		v.Set(virtualStart + 100*3_600_000)
		s.CleanStep()
		if deleted := s.MinCommitLogOffset() > 0; deleted == keep {
			t.Errorf("files are kept: %v, and were deleted by their age: %v", keep, deleted)
		}
		if s.DeleteExpired(); keep {
			s.CleanStep()
		}
		if s.MinCommitLogOffset() == 0 {
			t.Error("nothing was deleted on request")
		}
		mustClose(t, s)
	}
}
