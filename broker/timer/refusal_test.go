package timer_test

import (
	"strings"
	"testing"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/message"
)

// TestService_ARefusedTopicDelaysNoOther tries again, longer each time, and keeps the order.
func TestService_ARefusedTopicDelaysNoOther(t *testing.T) {
	t.Parallel()
	for _, inOrder := range []bool{false, true} {
		l := newLabIn(t)
		l.inOrder = inOrder
		l.open()
		busy := "Busy"
		l.refuse.Store(&busy)
		for _, body := range []string{"a", "b", "c"} {
			l.send("Busy", body, delay(1000))
		}
		l.send("T", "x", delay(1000))
		l.send("Busy", "d", delay(1500))
		l.send("T", "y", delay(2500))
		l.clock.Set(startMs + 1000)
		if next := l.settle(); l.count("T") != 1 || next != startMs+1100 {
			t.Fatalf("%d messages in T, next at +%d, want the try 100 ms after the refusal", l.count("T"), next-startMs)
		}
		for l.clock.NowMillis() < startMs+6000 {
			l.clock.Set(l.settle())
		}
		if l.settle(); l.count("T") != 2 || l.count("Busy") != 0 {
			t.Fatalf("T has %d messages, Busy %d", l.count("T"), l.count("Busy"))
		}
		l.awaitHealth(health.Degraded, "4 due timer messages wait for topic Busy")
		l.refuse.Store(nil)
		for l.count("Busy") < 4 {
			l.clock.Set(l.settle())
		}
		got := ""
		for _, d := range l.read("Busy") {
			got += d.body
		}
		if got != "abcd" {
			t.Errorf("delivered %s", got)
		}
		l.awaitHealth(health.Up, "")
		l.close()
	}
}

// TestService_ParksWhatItsTargetRefusesForGood and goes on.
func TestService_ParksWhatItsTargetRefusesForGood(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	l.missing["Gone"] = true
	l.send("Gone", "a", delay(1000))
	l.send("T", "b", delay(1000))
	l.clock.Set(startMs + 1000)
	if l.settle(); l.count("T") != 1 || l.parked() != 1 {
		t.Fatalf("T has %d messages, %d are parked", l.count("T"), l.parked())
	}
}

// TestService_DeliversWhatWasAccepted although maxMessageSize has become less since, once over a kill.
func TestService_DeliversWhatWasAccepted(t *testing.T) {
	t.Parallel()
	l := newLabIn(t)
	l.saveMs = 1_000_000
	l.open()
	l.send("T", strings.Repeat("x", 8000), delay(1000), key("K"))
	l.settle()
	l.close()
	l.largest = 4000
	l.open()
	l.clock.Set(startMs + 1000)
	if l.settle(); l.count("T") != 1 || l.parked() != 0 {
		t.Fatalf("T has %d messages, %d are parked", l.count("T"), l.parked())
	}
	if err := l.store.Flush(); err != nil {
		t.Fatal(err)
	}
	disk := l.disk.Crash()
	l.close()
	l.disk = disk
	l.open()
	defer l.close()
	if l.settle(); l.count("T") != 1 || l.parked() != 0 {
		t.Errorf("T has %d messages after a kill, %d are parked", l.count("T"), l.parked())
	}
}

// TestService_PoisonStopsNobody puts records into the timer queue that nobody can deliver.
func TestService_PoisonStopsNobody(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, props := range [][]byte{
		message.PropertyAppend(nil, message.PropertyDueMs, "1800000000500"),
		message.PropertyAppend(message.PropertyAppend(nil, "REAL_TOPIC", "T"), message.PropertyDueMs, "w"),
		message.PropertyAppend(message.PropertyAppend(message.PropertyAppend(nil, "REAL_TOPIC", "T"), "REAL_QID", "2"), message.PropertyDueMs, "soon"),
		message.PropertyAppend(message.PropertyAppend(message.PropertyAppend(nil, "REAL_TOPIC", "T"), "REAL_QID", "2"), message.PropertyDueMs, "9223372036854775807"),
	} {
		rec := message.Record{Topic: message.TopicTimer, Body: []byte("x"), Properties: props}
		if _, _, err := l.appender.Put(&rec, appender.FromScheduler, nil); err != nil {
			t.Fatal(err)
		}
	}
	l.send("T", "b", delay(1000))
	l.clock.Set(startMs + 1000)
	if l.settle(); l.count("T") != 1 || l.parked() != 4 {
		t.Errorf("T has %d messages, %d are parked", l.count("T"), l.parked())
	}
	l.close()
	l.open()
	defer l.close()
	if l.settle(); l.parked() != 4 {
		t.Errorf("%d are parked after a restart", l.parked())
	}
}

func (l *lab) parked() int64 {
	if q := l.store.Queue([]byte(message.TopicParked), 0); q != nil {
		return q.Max()
	}
	return 0
}

// TestService_PeerRecords are those of the real broker, which carry no instant of ours.
func TestService_PeerRecords(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	for _, c := range []struct{ body, deliver, out string }{
		{"exact", "1800000002345", "1800000002000"},
		{"slot", "1800000009999", "1800000002000"}, // another message's instant: it was forwarded
		{"relative", "", "1800000001000"},
	} {
		props := message.PropertyAppend(message.PropertyAppend(nil, "REAL_TOPIC", "T"), "REAL_QID", "2")
		props = message.PropertyAppend(props, "TIMER_OUT_MS", c.out)
		if c.deliver != "" {
			props = message.PropertyAppend(props, "TIMER_DELIVER_MS", c.deliver)
		}
		rec := message.Record{Topic: message.TopicTimer, Body: []byte(c.body), Properties: props}
		if _, _, err := l.appender.Put(&rec, appender.FromScheduler, nil); err != nil {
			t.Fatal(err)
		}
	}
	for next := l.settle(); next < startMs+10_000; next = l.settle() {
		l.clock.Set(next)
	}
	if got := l.bodies("T"); got != "relative+2000 exact+2345 slot+3000 " {
		t.Errorf("delivered %s", got)
	}
}

// TestService_NotEnabled delivers nothing and keeps what pends.
func TestService_NotEnabled(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.send("T", "a", delay(1000))
	l.settle()
	l.close()
	l.off = true
	l.open()
	if _, err := l.trySend("T", "b", delay(1000)); err == nil {
		t.Error("a timer message was accepted")
	}
	l.awaitHealth(health.Degraded, "1 pending")
	l.clock.Set(startMs + 5000)
	l.awaitHealth(health.Down, "past due by 4000 ms")
	if n, late, why := l.service.Overdue(); n != 1 || late != 4000 || why != "timerWheelEnable is false" {
		t.Errorf("%d messages are late by %d ms: %s", n, late, why)
	}
	if at, pending := l.service.Pinned(); !pending || at != 0 {
		t.Errorf("the log is needed from %d: %v", at, pending)
	}
	l.close()
	if l.count("T") != 0 {
		t.Fatal("delivered")
	}
	l.off = false
	l.open()
	defer l.close()
	if l.settle(); l.count("T") != 1 {
		t.Error("what pended is not delivered")
	}
}
