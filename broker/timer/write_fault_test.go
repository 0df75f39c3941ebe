package timer_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
)

// TestService_FilesThatCannotBeWritten has files cut from outside that arrivals are written to, as when
// the disk fails to take a page: what they had and what comes is delivered, and counted nowhere as lost.
func TestService_FilesThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]int64{"near": 60_000, "hour": 10 * hour, "day": 100 * hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLabIn(t)
			dir := t.TempDir()
			l.files = func(region.FS) region.FS { return region.OS{Root: dir} }
			l.open()
			defer func() { l.close() }()
			var want strings.Builder
			send := func(from, to int64) {
				for i := from; i < to; i++ {
					l.send("T", fmt.Sprint(i), at(startMs+ahead+i))
					fmt.Fprintf(&want, "%d+%d ", i, ahead+i)
				}
				l.settle()
			}
			send(0, 10)
			cutAll(t, dir)
			send(10, 200)
			l.clock.Set(startMs + max(0, ahead-hour/2))
			for next := l.settle(); next < math.MaxInt64; next = l.settle() {
				l.clock.Set(next)
			}
			if got := l.bodies("T"); got != want.String() {
				t.Errorf("delivered %s, want %s", got, want.String())
			}
			for _, e := range l.said.AllEntries() {
				if strings.Contains(e.Message, "is lost") {
					t.Error(e.Message, e.Data)
				}
			}
		})
	}
}

// cutAll cuts all files of timers that are there.
func cutAll(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "timer", "*", "*", "*"))
	for _, path := range files {
		err = errors.Join(err, os.Truncate(path, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
}
