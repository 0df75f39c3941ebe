package timer_test

import (
	"errors"
	"math"
	"path"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer"
)

const logDir = "timer/delay/timerlog"

// checkpointed is a disk with a Timeline of 300 entries in two seconds, and its state.
func checkpointed(t *testing.T) (*region.Memory, *timer.State) {
	t.Helper()
	disk := region.NewMemory()
	tl := fresh(t, disk)
	for n := range int64(300) {
		add(t, tl, entry(n, n%2*1000+n))
	}
	s, err := tl.State()
	if err != nil {
		t.Fatal(err)
	}
	if err := tl.Sync(); err != nil {
		t.Fatal(err)
	}
	return disk.Crash(), s
}

// files are the names of the TimerLog's files, in order.
func files(t *testing.T, disk region.FS) []string {
	t.Helper()
	entries, err := disk.List(logDir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = path.Join(logDir, e.Name)
	}
	return names
}

func TestOpen_ReportsFilesThatAreMissingOrCut(t *testing.T) {
	t.Parallel()
	disk, s := checkpointed(t)
	for i, name := range files(t, disk) {
		for _, left := range []int{-1, 1, 2000} {
			damaged := disk.Crash()
			if err := damaged.Remove(name); err != nil {
				t.Fatal(err)
			}
			if left >= 0 {
				if err := damaged.WriteFile(name, make([]byte, left)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := timer.Open(options(damaged), s, anyEnd); !errors.Is(err, timer.ErrDamaged) {
				t.Errorf("file %d, %d bytes left of it: %v", i, left, err)
			}
			// The owner goes on without the state.
			expect(t, fresh(t, damaged), noon)
			if names := files(t, damaged); len(names) != 0 {
				t.Errorf("%v is left", names)
			}
		}
	}
}

// TestRead_ReportsEveryFlippedBit flips each of them.
func TestRead_ReportsEveryFlippedBit(t *testing.T) {
	t.Parallel()
	disk, s := checkpointed(t)
	tl := open(t, disk, s)
	sound := make(map[int64]int)
	for _, second := range []int64{noon, noon + 1} {
		entries, err := read(tl, second)
		if err != nil {
			t.Fatal(err)
		}
		sound[second] = len(entries)
	}
	covered := 0
	for _, name := range files(t, disk) {
		r, err := disk.Open(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Bytes() {
			r.Bytes()[i] ^= 1 << (i % 8)
			covered += damagedBy(t, tl, sound)
			r.Bytes()[i] ^= 1 << (i % 8)
		}
	}
	if want := 300 * 16; covered < want {
		t.Errorf("%d flipped bits were reported, of %d that matter", covered, want)
	}
	if tl.Stats().Damaged == 0 {
		t.Error("the statistics know of no damage")
	}
}

// damagedBy reads everything, and returns 1 when damage is reported. Without a report nothing
// may be missing.
func damagedBy(t *testing.T, tl *timer.Timeline, sound map[int64]int) (reported int) {
	t.Helper()
	for second, want := range sound {
		entries, err := read(tl, second)
		switch {
		case errors.Is(err, timer.ErrDamaged):
			reported = 1
		case err != nil || len(entries) != want:
			t.Fatalf("%d of %d entries: %v", len(entries), want, err)
		}
	}
	return reported
}

func TestRead_GivesWhatIsSoundOfADamagedSecond(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	tl := fresh(t, disk)
	var all []timer.Entry
	for n := range int64(150) {
		all = append(all, entry(n, n))
		add(t, tl, all[n])
	}
	r, err := disk.Open(files(t, disk)[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	r.Bytes()[100] ^= 1 // in the first block of 64
	got, err := read(tl, noon)
	if !errors.Is(err, timer.ErrDamaged) || len(got) != 150-64 || got[0] != all[64] || got[85] != all[149] {
		t.Errorf("%d entries, %v", len(got), err)
	}
	reader, err := tl.Read(noon)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if from, to, ok := reader.Missing(); !ok || from != all[0].LogOffset || to != all[64].LogOffset {
		t.Errorf("missing is what lies from %d to %d, %v", from, to, ok)
	}
	if s := tl.Stats(); s.Damaged != 64 {
		t.Errorf("%+v", s)
	}
	// Other seconds are as they were.
	add(t, tl, entry(1000, 5000))
	if other, err := tl.Read(noon + 5); err != nil {
		t.Error(err)
	} else if from, to, ok := other.Missing(); ok {
		t.Errorf("of a sound second the records from %d to %d are missing", from, to)
	}
	expect(t, tl, noon+5, entry(1000, 5000))
}

func TestOpen_DeletesWhatTheStateDoesNotName(t *testing.T) {
	t.Parallel()
	disk, s := checkpointed(t)
	for _, name := range []string{"00000000000000409600", "x"} {
		if err := disk.WriteFile(path.Join(logDir, name), make([]byte, 4096)); err != nil {
			t.Fatal(err)
		}
	}
	open(t, disk, s)
	if names := files(t, disk); len(names) != len(s.Chunks) {
		t.Errorf("%v is left, not %v", names, s.Chunks)
	}
}

func TestOpen_CutsAtTheEndOfTheCommitLog(t *testing.T) {
	t.Parallel()
	disk, s := checkpointed(t)
	// Entry n begins at 100 n.
	tl, err := timer.Open(options(disk), s, 20_000)
	if err != nil {
		t.Fatal(err)
	}
	defer tl.Close()
	if st := tl.Stats(); st.Near != 200 {
		t.Errorf("%+v", st)
	}
	e := entry(200, 200)
	add(t, tl, e)
	got, err := read(tl, noon)
	if err != nil || len(got) != 101 || got[99] != entry(198, 198) || got[100] != e {
		t.Errorf("%d entries, %v", len(got), err)
	}
	if again, err := tl.State(); err != nil || again.LogMax != 20_100 {
		t.Errorf("the last record ends at %d: %v", again.LogMax, err)
	}
}

func TestAdd_ThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	tl := fresh(t, disk)
	var all []timer.Entry
	for n := range int64(63) {
		all = append(all, entry(n, n))
	}
	add(t, tl, all...)
	disk.SetLimit(1)
	last := entry(63, 63)
	for range 3 {
		if err := tl.Add(last, noon, nil); !errors.Is(err, region.ErrNoSpace) {
			t.Fatalf("on a full disk: %v", err)
		}
		if _, err := tl.State(); !errors.Is(err, region.ErrNoSpace) {
			t.Fatalf("a state of a full disk: %v", err)
		}
		expect(t, tl, noon, all...)
	}
	// Where no block is full there is room.
	add(t, tl, entry(64, 9000))
	disk.SetLimit(0)
	add(t, tl, last)
	expect(t, tl, noon, append(all, last)...)
	expect(t, tl, noon+9, entry(64, 9000))
}

func TestAdd_RefusesWhatCannotBeKept(t *testing.T) {
	t.Parallel()
	tl := fresh(t, region.NewMemory())
	for name, e := range map[string]timer.Entry{
		"no size":         {Due: noon * 1000},
		"negative offset": {Due: noon * 1000, Size: 1, LogOffset: -1},
		"due far later":   {Due: noon*1000 + 32_768, Size: 1},
	} {
		if err := tl.Add(e, noon, nil); !errors.Is(err, timer.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := tl.Add(entry(1, 0), math.MaxInt64/1000, nil); !errors.Is(err, timer.ErrInvalid) {
		t.Errorf("a second past all time: %v", err)
	}
	if s := tl.Stats(); s.Pending() != 0 {
		t.Errorf("%+v", s)
	}
	// A second may hold what was due before it, and what removes something at any time.
	late := entry(1, -500)
	cancel := timer.Entry{Due: noon*1000 + 99_000, LogOffset: 7, Size: 9, Flags: timer.Cancel}
	for _, e := range []timer.Entry{late, cancel} {
		if err := tl.Add(e, noon, nil); err != nil {
			t.Fatal(err)
		}
	}
	cancel.Due = noon*1000 + math.MaxInt16
	expect(t, tl, noon, late, cancel)
}
