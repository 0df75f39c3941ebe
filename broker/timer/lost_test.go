package timer_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/health"
)

// TestService_BrokenFarRecords spoils records in the middle of the files of an hour and of a day. What
// they had is in the log, messages, cancels, and what gives another instant.
func TestService_BrokenFarRecords(t *testing.T) {
	t.Parallel()
	for name, hours := range map[string]int64{"hour": 10, "day": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			defer func() { l.close() }()
			due := startMs + hours*hour + 5000
			for i := range 40 {
				l.send("T", fmt.Sprint(i), at(due+1+int64(i)), key(fmt.Sprint("K", i)))
			}
			for i := range 10 {
				l.send("T", "0", at(due+1), cancels(fmt.Sprint("K", i*4)))
			}
			l.settle()
			moved := 0
			for p := range l.service.Pending() {
				if p.Due == due+2 {
					if _, err := l.service.Reschedule(t.Context(), p.ID(), due+90_000); err != nil {
						t.Fatal(err)
					}
					moved++
				}
			}
			if l.settle(); moved != 1 {
				t.Fatalf("%d messages were given another instant", moved)
			}
			l.close()
			l.breakRecords("segment", 5, 6, 7, 42, 50)
			l.open()
			for next := l.settle(); next < math.MaxInt64; next = l.settle() {
				l.clock.Set(next)
			}
			var want strings.Builder
			for i := range 40 {
				if i%4 != 0 && i != 1 {
					fmt.Fprintf(&want, "%d+%d ", i, due+1+int64(i)-startMs)
				}
			}
			fmt.Fprintf(&want, "1+%d ", due+90_000-startMs)
			if got := l.bodies("T"); got != want.String() {
				t.Errorf("delivered %s, want %s", got, want.String())
			}
			if n := l.service.Count(); n != 0 {
				t.Errorf("%d messages pend in the end", n)
			}
			l.awaitHealth(health.Degraded, "damaged")
		})
	}
}

// breakRecords breaks the n-th records of the far file that has a part in its name and is the last such.
func (l *lab) breakRecords(part string, records ...int) {
	l.t.Helper()
	const dir = "timer/absolute/far"
	entries, err := l.disk.List(dir)
	if err != nil {
		l.t.Fatal(err)
	}
	name := ""
	for _, e := range entries {
		if strings.Contains(e.Name, part) && !strings.HasSuffix(e.Name, "index") {
			name = dir + "/" + e.Name
		}
	}
	r, err := l.disk.Open(name, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	if n := breakRecords(r.Bytes(), records); n < len(records) {
		l.t.Fatalf("%d records are broken", n)
	}
}

// breakRecords breaks the n-th far records that lie in b, and returns how many of them it found.
func breakRecords(b []byte, records []int) (broken int) {
	for n, from := 0, 0; broken < len(records); n++ {
		at := bytes.Index(b[from:], []byte("WF"))
		if at < 0 {
			break
		}
		if from += at; n == records[broken] {
			b[from+40] ^= 1
			broken++
		}
		from += 32
	}
	return broken
}
