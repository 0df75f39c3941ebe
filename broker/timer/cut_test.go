package timer_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/store/region"
)

// cutDisk is a disk on which a far file that is mapped cannot be read from some moment on.
type cutDisk struct {
	region.OS
	cuts *atomic.Bool
}

func (d cutDisk) Open(name string, size int) (region.Region, error) {
	r, err := d.OS.Open(name, size)
	if err == nil && d.cuts.Load() && strings.Contains(name, "/far/") {
		err = os.Truncate(filepath.Join(d.Root, name), 0)
	}
	return r, err
}

// cut cuts the far files that are there.
func (d cutDisk) cut(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(d.Root, "timer", "*", "far", "*"))
	for _, path := range files {
		err = errors.Join(err, os.Truncate(path, 0))
	}
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files are cut: %v", len(files), err)
	}
}

// TestService_CutFiles has files of far timers cut from outside while they are mapped, as when the disk
// fails to read them: who sorts, lists, changes or delivers what they hold meets a fault, and nobody is
// kept waiting for long.
func TestService_CutFiles(t *testing.T) {
	t.Parallel()
	for _, sorted := range []bool{false, true} {
		t.Run(fmt.Sprintf("sorted %v", sorted), func(t *testing.T) {
			t.Parallel()
			cutFiles(t, sorted)
		})
	}
}

func cutFiles(t *testing.T, sorted bool) {
	disk := cutDisk{region.OS{Root: t.TempDir()}, new(atomic.Bool)}
	l := newLabIn(t)
	l.files = func(region.FS) region.FS { return disk }
	l.open()
	defer func() { l.close() }()
	due := int64(startMs + 10*hour + 5000)
	var offsets []int64
	for i := range 200 {
		offsets = append(offsets, l.send("T", fmt.Sprint(i), at(due+int64(i))).CommitLogOffset)
	}
	l.send("U", "x", delay(1000))
	l.settle()
	if sorted {
		l.clock.Set(due - hour/2)
		l.settle()
		disk.cut(t)
	} else {
		// A start has not touched any record.
		l.close()
		l.open()
		disk.cuts.Store(true)
	}
	var ids []timer.ID
	for i := range 3 {
		ids = append(ids, timer.ID{Wall: true, Second: (due + int64(i) - 1) / 1000, CommitLogOffset: offsets[i]})
	}
	for range l.service.Pending() {
	}
	for _, id := range ids {
		if err := l.service.Cancel(t.Context(), id); err == nil {
			t.Errorf("%s is cancelled", id)
		}
	}
	l.clock.Set(max(l.clock.NowMillis(), due-hour/2))
	disk.cuts.Store(false)
	for next := l.settle(); next < math.MaxInt64; next = l.settle() {
		l.clock.Set(max(next, l.clock.NowMillis()))
	}
	if n, near := l.count("T"), l.count("U"); n != 200 || near != 1 {
		t.Errorf("%d far and %d near messages are delivered", n, near)
	}
}
