package compat

import (
	"context"
	"fmt"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestTimers_NeverEarly sends messages with every way of saying when, waits for them, and looks at
// when they were stored for delivery.
func TestTimers_NeverEarly(t *testing.T) {
	t.Parallel()
	l := newLab(t, 4)
	box := l.consume(t)
	p := l.producer(t)
	due := make(map[string]int64)
	at := func(body string, ahead time.Duration) {
		m, instant := l.message("%s", body), time.Now().Add(ahead)
		due[body] = instant.UnixMilli()
		send(t, p, m.WithDelayTimestamp(instant))
	}
	after := func(body, property, value string, delay time.Duration) {
		m := l.message("%s", body)
		m.WithProperty(property, value)
		due[body] = time.Now().Add(delay).UnixMilli()
		send(t, p, m)
	}
	for _, ms := range []int{-5, 1, 250, 1000, 2001, 5500} {
		at(fmt.Sprint("at ", ms), time.Duration(ms)*time.Millisecond)
		after(fmt.Sprint("ms ", ms), "TIMER_DELAY_MS", fmt.Sprint(ms), time.Duration(ms)*time.Millisecond)
	}
	after("sec 3", "TIMER_DELAY_SEC", "3", 3*time.Second)
	want := make([]string, 0, len(due))
	for body := range due {
		want = append(want, body)
	}
	box.wantOnce(t, want...)
	latest := int64(0)
	for _, a := range box.all() {
		late := a.StoreTimestamp - due[string(a.Body)]
		if late < 0 {
			t.Errorf("%q was stored for delivery %d ms early", a.Body, -late)
		}
		latest = max(latest, late)
		if a.Topic != l.topic {
			t.Errorf("%q arrived in topic %s", a.Body, a.Topic)
		}
	}
	t.Logf("at most %d ms late", latest)
	if n := l.stored(t); int(n) != len(due) {
		t.Errorf("%d messages are in the topic, want %d", n, len(due))
	}
}

// TestTimers_Limits are those that the client itself does not check.
func TestTimers_Limits(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	p := l.producer(t)
	const day = 24 * time.Hour
	send(t, p, l.message("later").WithDelayTimestamp(time.Now().Add(3*day-time.Minute)))
	refused(t, p, l.message("never").WithDelayTimestamp(time.Now().Add(3*day+time.Minute)))
	for _, sec := range []string{"259201", "soon", "9223372036854775808"} {
		m := l.message("never")
		m.WithProperty("TIMER_DELAY_SEC", sec)
		refused(t, p, m)
	}
	if n := l.stored(t); n != 0 {
		t.Errorf("%d messages are in the topic, want none", n)
	}
}

func refused(t *testing.T, p rocketmq.Producer, m *primitive.Message) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wire.Timeout)
	defer cancel()
	if result, err := p.SendSync(ctx, m); err == nil && result.Status == primitive.SendOK {
		t.Errorf("%v is taken", m.GetProperties())
	}
}

// TestTimers_CancelByProperty is how a client without a call for it recalls a message: a second one
// with the same instant names the first by its id, and neither is delivered.
func TestTimers_CancelByProperty(t *testing.T) {
	t.Parallel()
	suite.WithLead(t, 4*time.Second, func(lead time.Duration) bool {
		l := newLab(t, 1)
		box, p := l.consume(t), l.producer(t)
		at := time.Now().Add(lead)
		send(t, p, l.message("stays").WithDelayTimestamp(at))
		result := send(t, p, l.message("cancelled").WithDelayTimestamp(at))
		cancel := l.message("cancel").WithDelayTimestamp(at)
		cancel.WithProperty("TIMER_DEL_UNIQKEY", result.MsgID)
		_, err := p.SendSync(t.Context(), cancel)
		if time.Until(at) < time.Second {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		send(t, p, l.message("behind").WithDelayTimestamp(at.Add(3*time.Second)))
		box.wantOnce(t, "stays", "behind")
		suite.Eventually(t, limit, "both are stored", func() bool { return l.stored(t) >= 2 })
		if n := l.stored(t); n != 2 {
			t.Errorf("%d messages are in the topic, want 2", n)
		}
		return true
	})
}
