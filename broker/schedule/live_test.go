package schedule_test

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/message"
)

// TestService_ConcurrentSenders pass one another on their way into the queue while the clock
// moves: everything is delivered once, nothing early.
func TestService_ConcurrentSenders(t *testing.T) {
	t.Parallel()
	const senders, each = 8, 500
	l := newLab(t)
	defer l.close()
	var wg sync.WaitGroup
	sent := make(chan struct{})
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				props := message.PropertyAppend(nil, message.PropertyDelay, strconv.Itoa(1+i%2))
				rec := message.Record{Topic: "T", QueueID: 2, Body: fmt.Appendf(nil, "%d/%d", s, i), Properties: props}
				if _, _, err := l.appender.Put(&rec, appender.FromClient, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { wg.Wait(); close(sent) }()
	for moving := true; moving; {
		select {
		case <-sent:
			moving = false
		default:
			l.clock.Set(l.clock.NowMillis() + 1)
		}
	}
	l.clock.Set(l.clock.NowMillis() + 3000)
	l.await("delivery", func() bool { return l.count("T") >= senders*each })
	due := map[string]int64{}
	if err := l.store.Scan(0, func(v *message.View) error {
		if string(v.Topic) == message.TopicSchedule {
			value, _ := message.PropertyGet(v.Properties, message.PropertyDueMs)
			at, err := strconv.ParseInt(string(value), 10, 64)
			due[string(v.Body)] = at
			return err
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, v := range l.read("T") {
		at, pending := due[v.body]
		if !pending || v.stored < at {
			t.Errorf("message %s, due at %d, pending %v, is stored at %d", v.body, at, pending, v.stored)
		}
		delete(due, v.body)
	}
	if len(due) > 0 {
		t.Errorf("%d messages are lost", len(due))
	}
}

// TestService_QueueCutUnderIt: what is deleted cannot be delivered, and is said; the rest is.
func TestService_QueueCutUnderIt(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	for i := range 5 {
		l.put("T", 2, strconv.Itoa(i))
	}
	l.put("T", 1, "of another level")
	l.clock.Set(startMs + 1000)
	l.await("the other level", func() bool { return l.count("T") == 1 })
	l.await("five are counted", func() bool { return l.service.PendingOf()["T"] == 5 })
	l.store.Queue([]byte(message.TopicSchedule), 1).SetMin(3)
	l.clock.Set(startMs + 3000)
	l.await("what is left", func() bool { return l.count("T") == 3 })
	for i, want := range []string{"of another level", "3", "4"} {
		if got := l.read("T")[i].body; got != want {
			t.Errorf("message %d is %q, want %q", i, got, want)
		}
	}
	l.await("progress", func() bool { return l.service.Offsets()[1].Delivered == 5 })
	l.await("what is lost does not count", func() bool { return l.service.PendingOf()["T"] == 0 })
	for _, e := range l.said.AllEntries() {
		if e.Level == logrus.WarnLevel && e.Data["lost"] == int64(3) && e.Data["level"] == int64(2) {
			return
		}
	}
	t.Error("the log does not say that three messages of level 2 are lost")
}

// FuzzOffsetFile: whatever the file holds, the service starts, its progress is within the queues,
// and it comes to an end.
func FuzzOffsetFile(f *testing.F) {
	for _, seed := range []string{
		"", "{", `{"offsetTable":{"1":3}}`, `{"offsetTable":{1:4,18:0}}`, `{"offsetTable":{"1":99999},"copiesFrom":1}`,
		`{"offsetTable":{"1":5,"2":1},"copiesFrom":77,"pending":{"2":[[1,3],[4,5],[5,5]],"1":[[3,1]]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		l := newLab(t)
		for i := range 5 {
			l.put("T", 1, strconv.Itoa(i))
			l.put("T", 2, strconv.Itoa(i))
		}
		l.clock.Set(startMs + 1000)
		l.await("level 1", func() bool { return l.count("T") == 5 })
		l.close()
		if err := os.WriteFile(l.file(), file, 0o600); err != nil {
			t.Fatal(err)
		}
		l.open()
		defer l.close()
		for _, o := range l.service.Offsets() {
			if o.Delivered < 0 || o.Delivered > o.Max {
				t.Errorf("level %d: %d of %d delivered", o.Level, o.Delivered, o.Max)
			}
		}
		l.clock.Set(startMs + 100_000)
		l.await("an end", func() bool { _, pending := l.service.Pinned(); return !pending })
	})
}
