package broker_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/broker/virtualtime"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// sendTimer stores a message with properties, by name and value in turn.
func (l *lab) sendTimer(topic, body string, named ...string) {
	l.t.Helper()
	var props []byte
	for i := 0; i < len(named); i += 2 {
		props = message.PropertyAppend(props, named[i], named[i+1])
	}
	var ext remoting.ExtWriter
	req := remoting.SendMessageRequest{
		ProducerGroup: []byte("P"), Topic: []byte(topic), DefaultTopic: []byte(message.TopicAutoCreate), DefaultTopicQueueNums: 2,
		Properties: props,
	}
	req.EncodeV2(&ext)
	l.call(remoting.SendMessageV2, &ext, []byte(body))
}

func (l *lab) delivered(topic string) string {
	l.t.Helper()
	var got []string
	if err := l.broker.EachMessage(topic, func(v *message.View) error {
		got = append(got, fmt.Sprintf("%s+%d", v.Body, v.StoreTimestamp-startMs))
		return nil
	}); err != nil {
		l.t.Fatal(err)
	}
	return strings.Join(got, " ")
}

func (l *lab) pending() string {
	l.t.Helper()
	var got []string
	if _, err := l.broker.EachPending(0, func(p broker.Pending) error {
		rec, err := p.Read()
		if err != nil {
			return err
		}
		got = append(got, fmt.Sprintf("%s/%s level %d +%d", rec.Topic, rec.Body, p.Level, p.Due-startMs))
		return nil
	}); err != nil {
		l.t.Fatal(err)
	}
	return strings.Join(got, ", ")
}

// TestVirtualTime_Timers has delay levels and timers in one order, levels first at the same instant,
// over a restart and for months.
func TestVirtualTime_Timers(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.config.TimerMaxDelaySec = 366 * 86_400
	l.open(startMs)
	defer func() { l.close() }()
	l.sendTimer("T", "timer", "TIMER_DELAY_MS", "10000")
	l.send("T", 0, "level", 3) // 10 s
	l.sendTimer("T", "early", "TIMER_DELAY_MS", "1")
	l.sendTimer("T", "cancelled", "TIMER_DELAY_SEC", "20", "UNIQ_KEY", "K")
	l.sendTimer("T", "0", "TIMER_DELAY_MS", "19001", "TIMER_DEL_UNIQKEY", "K")
	l.sendTimer("T", "hours", "TIMER_DELAY_SEC", "30000")
	l.sendTimer("T", "months", "TIMER_DELAY_SEC", strconv.Itoa(200*86_400))
	if got, want := l.pending(), "T/early level 0 +1, T/level level 3 +10000, T/timer level 0 +10000, T/hours level 0 +30000000, T/months level 0 +17280000000"; got != want {
		t.Errorf("pending %s, want %s", got, want)
	}
	if next, n := l.broker.Due(); next != startMs+1 || n != 5 {
		t.Errorf("%d pend, the first due at +%d", n, next-startMs)
	}
	ctx, cancel := within()
	defer cancel()
	m, err := l.broker.VirtualTime().Advance(ctx, time.Hour)
	if want := (virtualtime.Moved{From: startMs, Now: startMs + 3_600_000, Steps: 2, Delivered: 3}); m != want || err != nil {
		t.Fatalf("%+v, %v, want %+v", m, err, want)
	}
	l.close()
	l.open(startMs)
	e := l.broker.VirtualTime()
	for _, want := range []int64{30_000_000, 200 * 86_400_000} {
		if m, err := e.AdvanceToNext(ctx); err != nil || m.Now != startMs+want || m.Delivered != 1 {
			t.Fatalf("to the next: %+v, %v, want +%d", m, err, want)
		}
	}
	if _, err := e.AdvanceToNext(ctx); !errors.Is(err, virtualtime.ErrNothingPending) {
		t.Errorf("with nothing pending: %v", err)
	}
	if got, want := l.delivered("T"), "early+1 level+10000 timer+10000 hours+30000000 months+17280000000"; got != want {
		t.Errorf("delivered %s, want %s", got, want)
	}
}
