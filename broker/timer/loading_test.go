package timer_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/message"
)

// TestService_AHugeSecond is read a part at a time, while more comes for it, what it has is
// cancelled, and others are due. Each is delivered once, those of an instant as they arrived.
func TestService_AHugeSecond(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]int64{"near": 60_000, "far": 3 * 3_600_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLabIn(t)
			l.inOrder, l.file, l.saveMs = false, 64<<20, 5
			l.open()
			defer l.close()
			hugeSecond(t, l, ahead)
		})
	}
}

func hugeSecond(t *testing.T, l *lab, ahead int64) {
	const many, more = 20_000, 200
	due := startMs + ahead
	body := make([]byte, 8)
	for i := range many {
		props := message.PropertyAppend(nil, "TIMER_DELIVER_MS", fmt.Sprint(due-int64(i%3)))
		rec := message.Record{Topic: "T", QueueID: 2, Body: fmt.Appendf(body[:0], "%08d", i), Properties: message.PropertyAppend(props, "UNIQ_KEY", fmt.Sprint("K", i))}
		if _, _, err := l.appender.Put(&rec, appender.FromClient, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		l.send("U", fmt.Sprint(i), at(due-3000+int64(i)*100))
	}
	l.settle()
	gone := l.idOf(fmt.Sprintf("%08d", many/2))
	l.clock.Set(due - 4500) // far ones are sorted now
	l.settle()
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range more {
			l.send("T", fmt.Sprintf("%08d", many+i), at(due))
		}
		l.send("T", "0", at(due), cancels("K3"))
	})
	wg.Go(func() {
		if err := l.service.Cancel(t.Context(), gone); err != nil {
			t.Error(err)
		}
	})
	for now := due - 3600; now < due-100; now += 100 {
		l.clock.Set(now)
	}
	wg.Wait()
	l.clock.Set(due)
	l.settle()
	if n := l.count("U"); n != 20 {
		t.Errorf("%d messages in U", n)
	}
	list := l.read("T")
	if len(list) != many+more-2 {
		t.Fatalf("%d messages in T", len(list))
	}
	last := [3]string{}
	for _, d := range list {
		i, err := strconv.Atoi(d.body)
		if err != nil {
			t.Fatal(err)
		}
		instant := i % 3
		if i >= many {
			instant = 0
		}
		if d.body <= last[instant] {
			t.Fatalf("%s was delivered after %s", d.body, last[instant])
		}
		if last[instant] = d.body; i == 3 || i == many/2 {
			t.Errorf("%s was delivered although it was cancelled", d.body)
		}
	}
}
