package timer_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
)

const farDir = "timer/delay/far"

// filled is a driver with messages of the next days and hours that a checkpoint names, and its
// log, which has nothing of them any more.
func filled(t *testing.T, fs region.FS) (*driver, *[]logged) {
	t.Helper()
	log := new([]logged)
	d := newDriver(fs, log, 8192)
	d.now = noon
	send(rand.New(rand.NewPCG(3, 3)), log, noon, 400)
	for _, step := range []func() error{func() error { return d.open(anyEnd) }, d.take, d.save} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	d.expire()
	return d, log
}

// reopened is a driver that goes on after a kill.
func reopened(t *testing.T, d *driver) *driver {
	t.Helper()
	again := newDriver(d.fs, d.log, d.chunk)
	again.now = d.now
	if err := again.open(anyEnd); err != nil {
		t.Fatal(err)
	}
	if err := again.take(); err != nil {
		t.Fatal(err)
	}
	return again
}

// finish delivers all that is pending, whatever is damaged, and returns how many messages of the
// log never came.
func finish(t *testing.T, d *driver) (lost int64) {
	t.Helper()
	d.tolerant = true
	if err := d.deliver(d.now + 100*86_400); err != nil {
		t.Fatal(err)
	}
	for _, l := range *d.log {
		switch n := d.given[l.LogOffset]; {
		case n > 1:
			t.Errorf("%d was delivered %d times", l.LogOffset, n)
		case n == 0:
			lost++
		}
	}
	return lost
}

// breakFile changes a byte of the first file with a name in it, or removes it.
func breakFile(t *testing.T, fs region.FS, part string, at int) string {
	t.Helper()
	entries, err := fs.List(farDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.Contains(e.Name, part) {
			continue
		}
		name := path.Join(farDir, e.Name)
		if at < 0 {
			if err := fs.Remove(name); err != nil {
				t.Fatal(err)
			}
			return name
		}
		r, err := fs.Open(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		r.Bytes()[at] ^= 0x10
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		return name
	}
	t.Fatalf("there is no %s", part)
	return ""
}

func TestFar_DamageIsCountedAndTheRestDelivered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		part    string
		at      int
		without bool // the checkpoint
		lost    bool
	}{
		"a byte of a record of a day":       {"day020836-segment", 100, false, true},
		"a byte of a header":                {"hour0500004-segment", 26, false, true},
		"a file of a segment":               {"hour0500004-segment", -1, false, true},
		"a file of a day":                   {"day020836-segment", -1, false, true},
		"a byte of a record, no checkpoint": {"hour0500004-segment", 100, true, true},
		"a byte of a run":                   {"hour0500002-run-", 100, false, true},
		"a file of a run":                   {"hour0500002-run-", -1, false, true},
		"a byte of an index":                {"hour0500002-run-%index", 9, false, false},
		"an index":                          {"hour0500002-run-%index", -1, false, false},
		"a byte of an index, no checkpoint": {"hour0500002-run-%index", 9, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := region.NewMemory()
			d, _ := filled(t, disk)
			part := c.part
			if strings.Contains(part, "-run-") {
				// An hour that is sorted, and named so.
				if err := errors.Join(d.deliver(noon+3600), d.save()); err != nil {
					t.Fatal(err)
				}
				if before, isIndex := strings.CutSuffix(part, "%index"); isIndex {
					part = indexOf(t, disk, before)
				}
			}
			breakFile(t, disk, part, c.at)
			if c.without {
				if err := disk.Remove(checkpoint); err != nil {
					t.Fatal(err)
				}
			}
			again := reopened(t, d)
			if !c.without {
				maps.Copy(again.given, d.given)
			}
			lost := finish(t, again)
			if (lost > 0) != c.lost {
				t.Errorf("%d messages are lost", lost)
			}
			if s := again.tl.Stats(); s.Damaged != lost || s.Pending() != 0 {
				t.Errorf("%d messages are lost: %+v", lost, s)
			}
		})
	}
}

// indexOf is the name of the index of a run.
func indexOf(t *testing.T, fs region.FS, part string) string {
	t.Helper()
	entries, err := fs.List(farDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name, part) && strings.HasSuffix(e.Name, "-index") {
			return e.Name
		}
	}
	t.Fatalf("there is no index of %s", part)
	return ""
}

// TestFar_FullDisk fills the disk at every step of additions, splits and sorts: an error, after
// which all goes on when there is space again.
func TestFar_FullDisk(t *testing.T) {
	t.Parallel()
	full := 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 9))
		disk := region.NewMemory()
		var log []logged
		d := newDriver(disk, &log, 8192)
		d.now = noon
		if err := d.open(anyEnd); err != nil {
			t.Fatal(err)
		}
		again := func(step func() error) {
			for {
				err := step()
				if err == nil {
					return
				}
				if !errors.Is(err, region.ErrNoSpace) {
					t.Fatalf("seed %d: %v", seed, err)
				}
				full++
				disk.SetLimit(0)
			}
		}
		for range 12 {
			disk.SetLimit(1 + rng.Int64N(4<<20))
			send(rng, &log, d.now, rng.IntN(60))
			again(d.take)
			again(d.save)
			again(func() error { return d.deliver(d.now + []int64{4000, 40_000, 300_000}[rng.IntN(3)]) })
		}
		disk.SetLimit(0)
		again(func() error { return d.deliver(d.now + 100*86_400) })
		if err := d.complete(nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if full < 10 {
		t.Fatalf("the disk was full %d times only", full)
	}
}

// TestFar_ArrivalsGoElsewhereWhileAJobRuns adds to a bucket between the steps of its job.
func TestFar_ArrivalsGoElsewhereWhileAJobRuns(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	d, log := filled(t, disk)
	rng := rand.New(rand.NewPCG(5, 5))
	for d.now < noon+6*86_400 {
		d.now += 4000
		jobs := d.tl.Prepare(d.now * 1000)
		more := func() {
			for range 5 {
				send(rng, log, d.now+rng.Int64N(3*86_400), 1)
			}
			if err := d.take(); err != nil {
				t.Fatal(err)
			}
		}
		more()
		for _, j := range jobs {
			err := j.Run()
			more()
			if err := errors.Join(err, d.tl.Finish(j)); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.deliver(d.now); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.deliver(d.now + 100*86_400); err != nil {
		t.Fatal(err)
	}
	if err := d.complete(nil); err != nil {
		t.Fatal(err)
	}
}

// TestFar_TheEndOfTheLogCuts opens with a log that lost its tail, which grows again by others.
func TestFar_TheEndOfTheLogCuts(t *testing.T) {
	t.Parallel()
	for _, sorted := range []bool{false, true} {
		disk := region.NewMemory()
		d, log := filled(t, disk)
		if sorted {
			for now := noon; now < noon+3*86_400; now += 3600 {
				d.now = now
				if err := d.jobs(); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.save(); err != nil {
				t.Fatal(err)
			}
		}
		left := len(*log) / 2
		end := (*log)[left].LogOffset
		*log = (*log)[:left]
		again := newDriver(disk, log, d.chunk)
		if err := again.open(end); err != nil {
			t.Fatal(err)
		}
		again.taken = min(again.taken, left)
		send(rand.New(rand.NewPCG(8, 8)), log, again.now+3*86_400, 300)
		if err := errors.Join(again.take(), again.save(), again.tl.Close()); err != nil {
			t.Fatal(err)
		}
		last := reopened(t, again)
		if lost := finish(t, last); lost != 0 {
			t.Errorf("sorted %v: %d messages are lost", sorted, lost)
		}
		if s := last.tl.Stats(); s.Damaged != 0 || s.Pending() != 0 {
			t.Errorf("sorted %v: %+v", sorted, s)
		}
	}
}

// TestFar_AJobThatIsStoppedLeavesNothingAndComesAgain stops every job once.
func TestFar_AJobThatIsStoppedLeavesNothingAndComesAgain(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	d, _ := filled(t, disk)
	d.now += 3600
	before, err := disk.List(farDir)
	if err != nil {
		t.Fatal(err)
	}
	jobs := d.tl.Prepare(d.now * 1000)
	if len(jobs) != 1 {
		t.Fatalf("%d jobs", len(jobs))
	}
	jobs[0].Stop()
	if err := jobs[0].Run(); err == nil {
		t.Fatal("a stopped job went on")
	}
	if err := d.tl.Finish(jobs[0]); err != nil {
		t.Fatal(err)
	}
	if after, err := disk.List(farDir); err != nil || !slices.Equal(before, after) {
		t.Errorf("%v became %v, %v", before, after, err)
	}
	if err := d.deliver(d.now + 100*86_400); err != nil {
		t.Fatal(err)
	}
	if err := d.complete(nil); err != nil {
		t.Fatal(err)
	}
}
