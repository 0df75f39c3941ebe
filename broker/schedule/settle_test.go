package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/message"
)

// settle is the service's answer; the test ends when it has none in time.
func (l *lab) settle() int64 {
	l.t.Helper()
	ctx, cancel := await.Context()
	defer cancel()
	next, err := l.service.Settle(ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	return next
}

// TestService_Settle turns the clock and finds everything delivered when Settle returns, without
// waiting for it: under both flush types, windows and orders.
func TestService_Settle(t *testing.T) {
	t.Parallel()
	for _, inOrder := range []bool{false, true} {
		for _, sync := range []bool{false, true} {
			for _, window := range []int{0, 3, 2000} {
				t.Run(fmt.Sprintf("inOrder %v, sync %v, window %d", inOrder, sync, window), func(t *testing.T) {
					t.Parallel()
					l := newLabIn(t, t.TempDir())
					l.inOrder, l.sync, l.window = inOrder, sync, window
					l.open()
					defer l.close()
					if next := l.settle(); next != math.MaxInt64 {
						t.Fatalf("next is %d with nothing pending", next)
					}
					const many = 700
					for range many {
						l.send("T", 2)
					}
					l.put("T", 1, "first")
					for i, want := range []struct{ next, count int64 }{{startMs + 1000, 0}, {startMs + 3000, 1}, {math.MaxInt64, many + 1}} {
						next := l.settle()
						if n := l.count("T"); next != want.next || n != want.count {
							t.Fatalf("step %d: %d messages and next at +%d ms, want %d and +%d", i, n, next-startMs, want.count, want.next-startMs)
						}
						if next < math.MaxInt64 {
							l.clock.Set(next)
						}
					}
				})
			}
		}
	}
}

// TestService_Settle_RefusedLevel has a due instant: when it tries again.
func TestService_Settle_RefusedLevel(t *testing.T) {
	t.Parallel()
	for _, inOrder := range []bool{false, true} {
		l := newLabIn(t, t.TempDir())
		l.inOrder = inOrder
		l.open()
		busy := "T"
		l.refuse.Store(&busy)
		l.send("T", 1)
		l.send("U", 2)
		l.clock.Set(startMs + 1000)
		if next := l.settle(); next != startMs+1100 {
			t.Fatalf("next at +%d ms, want the try 100 ms after the refusal", next-startMs)
		}
		l.clock.Set(startMs + 3000)
		if l.settle(); l.count("U") != 1 {
			t.Fatal("a refused level held up another")
		}
		l.refuse.Store(nil)
		for next := l.settle(); l.count("T") == 0; next = l.settle() {
			if next > startMs+20_000 {
				t.Fatalf("next at +%d ms and nothing delivered", next-startMs)
			}
			l.clock.Set(next)
		}
		l.close()
	}
}

func TestService_Settle_ContextAndClose(t *testing.T) {
	t.Parallel()
	d := heldLab(t, 5000)
	d.await("the appends", func() bool { return d.puts() == 1001 })
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := d.service.Settle(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v while a copy is not stored for good, want the context's error", err)
	}
	d.letGo(-1)
	if d.settle(); d.delivered() != 1000 {
		t.Fatalf("%d delivered when settled, want 1000", d.delivered())
	}
	d.close()
	if _, err := d.service.Settle(context.Background()); err == nil {
		t.Fatal("a closed service settled")
	}
}

// TestService_InOrder sends more than a batch on three levels, so that all are due at one
// instant and arrived in the reverse order.
func TestService_InOrder(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		l := newLabIn(t, t.TempDir())
		l.table, l.inOrder, l.sync = "1s 2s 3s", true, sync
		l.open()
		const each = 300
		var want []string
		for level := 3; level >= 1; level-- {
			l.clock.Set(startMs + 3000 - int64(level)*1000)
			l.settle()
			for i := range each {
				l.put("T", level, fmt.Sprintf("%d %03d", level, i))
			}
		}
		for level := 1; level <= 3; level++ {
			for i := range each {
				want = append(want, fmt.Sprintf("%d %03d", level, i))
			}
		}
		l.clock.Set(startMs + 3000)
		l.settle()
		got := l.read("T")
		if len(got) != len(want) {
			t.Fatalf("%d messages, want %d", len(got), len(want))
		}
		for i, d := range got {
			if d.body != want[i] {
				t.Fatalf("message %d is %q, want %q", i, d.body, want[i])
			}
		}
		l.close()
	}
}

// TestService_Pending lists what waits in due order, whether the driver has looked at it or not.
func TestService_Pending(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer func() { l.close() }()
	list := func() string {
		var b strings.Builder
		for p := range l.service.Pending() {
			rec, err := l.service.Read(p)
			if err != nil {
				t.Fatal(err)
			}
			if _, own := message.PropertyGet(rec.Properties, message.PropertyDueMs); own || rec.QueueID != 2 {
				t.Errorf("%q is not as it will be in its topic: %q, queue %d", rec.Body, rec.Properties, rec.QueueID)
			}
			fmt.Fprintf(&b, "%s/%s level %d +%d; ", rec.Topic, rec.Body, p.Level, p.Due-startMs)
		}
		return b.String()
	}
	want := func(want string, next, messages int64) {
		t.Helper()
		if got := list(); got != want {
			t.Errorf("pending %q, want %q", got, want)
		}
		if n, m := l.service.Due(); n != next || m != messages {
			t.Errorf("due %d, %d, want %d, %d", n, m, next, messages)
		}
	}
	want("", math.MaxInt64, 0)
	l.put("T", 3, "a")
	l.put("U", 2, "b")
	l.put("T", 2, "c")
	l.put("T", 1, "d")
	want("T/d level 1 +1000; U/b level 2 +3000; T/c level 2 +3000; T/a level 3 +86400000; ", startMs+1000, 4)
	l.clock.Set(startMs + 3000)
	l.settle()
	want("T/a level 3 +86400000; ", startMs+86_400_000, 1)
	l.close()
	l.table = "1s 3s 5s"
	l.open()
	l.put("T", 3, "e") // due before the one in front of it
	want("T/e level 3 +8000; T/a level 3 +86400000; ", startMs+8000, 2)
}
