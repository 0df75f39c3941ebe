package pop_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/message"
)

// handOver gives away what is in flight, and begins anew without the journal.
func (l *lab) handOver() (bodies []string) {
	l.t.Helper()
	_, order, err := l.service.HandOver(&pop.Handover{Cluster: "C", BrokerName: "broker-a", PrecisionMs: 1000, Put: func(rec *message.Record) error {
		bodies = append(bodies, string(rec.Body))
		for name, want := range map[string]string{message.PropertyTags: "ck", message.PropertyRealTopic: reviveTopic, message.PropertyRealQueueID: "0"} {
			if got, _ := message.PropertyGet(rec.Properties, name); string(got) != want {
				l.t.Fatalf("%s is %q, want %q", name, got, want)
			}
		}
		return nil
	}})
	l.must(err)
	l.close()
	l.must(l.disk.Remove("pop"))
	if order != nil {
		l.must(persist.In(l.disk, "config").Save(pop.OrderFile, order))
	}
	l.open()
	return bodies
}

// TestHandOver_OfCheckpointsThatAreTakenOver: what is acknowledged is in none of them.
func TestHandOver_OfCheckpointsThatAreTakenOver(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open()
	defer func() { l.close() }()
	for i := range 50 {
		l.send("T", 0, fmt.Sprint(i))
	}
	handles := l.pop(window, 40, 5000)
	for _, h := range handles[:4] {
		l.ack(h)
	}
	l.ack(handles[5])
	if _, ok := l.change(handles[6], 60_000); !ok {
		t.Fatal("not changed")
	}
	got := l.handOver()
	want := fmt.Sprintf(`{"bm":0,"bn":"broker-a","c":"G","d":[0],"it":5000,"n":1,"pt":%d,"q":0,"ro":0,"rp":"0","so":4,"t":"T"}`, int64(startMs))
	if len(got) != 4 || got[0] != want {
		t.Fatalf("%d checkpoints: %q", len(got), got)
	}
	if n := l.service.InFlight("G", "T"); n != 0 {
		t.Fatalf("%d are in flight without journal", n)
	}
	for _, body := range got {
		l.record("ck", body)
	}
	l.settle()
	if n := l.service.InFlight("G", "T"); n != 35 {
		t.Errorf("%d are in flight, want 35", n)
	}
	l.turn(5000 + 3000)
	back := l.pop(retry, 50, 1000)
	if len(back) != 34 || back[0].body != "4" || back[1].body != "7" || back[33].body != "39" {
		t.Errorf("%d messages come back, the first is %q", len(back), bodies(back))
	}
	wantBodies(t, l.pop(window, 32, 1000), "40 41 42 43 44 45 46 47 48 49")
}

// TestHandOver_OfAnOrderThatIsTakenOver: block, counts, instants and handles are the same after it,
// and it is taken over once.
func TestHandOver_OfAnOrderThatIsTakenOver(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open()
	defer func() { l.close() }()
	l.send("T", 0, "a", "b", "c", "d")
	l.popAs(window, 3, 1000, true, "one")
	l.turn(1000)
	handles := l.popAs(window, 3, 5000, true, "two")
	l.ack(handles[0])
	if _, ok := l.change(handles[2], 9000); !ok {
		t.Fatal("not changed")
	}
	if got := l.handOver(); len(got) > 0 {
		t.Errorf("checkpoints of what was popped in order: %q", got)
	}
	if _, err := l.disk.ReadFile("config/" + pop.OrderFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", pop.OrderFile, err)
	}
	for range 2 {
		wantBodies(t, l.popAs(window, 3, 5000, true, "three"), "")
		l.close()
		l.open()
	}
	l.turn(5000)
	wantBodies(t, l.popAs(window, 3, 5000, true, "three"), "")
	if !l.ack(handles[1]) {
		t.Error("a handle has no effect")
	}
	l.turn(4000)
	again := l.popAs(window, 3, 5000, true, "three")
	wantBodies(t, again, "c d")
	if again[0].times != 2 || again[1].times != 0 {
		t.Errorf("popped after %d and %d times, want 2 and 0", again[0].times, again[1].times)
	}
}
