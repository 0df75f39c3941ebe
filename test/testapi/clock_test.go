package testapi

import (
	"testing"
	"time"
)

const hour = int64(time.Hour / time.Millisecond)

func (s *server) clock(t *testing.T) clockState {
	t.Helper()
	return into[clockState](t, s.get(t, "/test/clock"))
}

func TestAdvance_DeliversWhatIsDue(t *testing.T) {
	t.Parallel()
	s := startVirtual(t)
	if got, want := s.clock(t), (clockState{Virtual: true, NowMs: beginning}); got != want {
		t.Fatalf("the clock stands at %+v, want %+v", got, want)
	}
	s.post(t, "/test/messages", m{"topic": "orders", "text": "in two hours", "delayLevel": 18})
	s.post(t, "/test/messages", m{"topic": "orders", "text": "in ten seconds", "delayLevel": 3})
	s.post(t, "/test/messages", m{"topic": "bills", "text": "in five seconds", "delayLevel": 2})
	waiting := into[pendingList](t, s.get(t, "/test/pending"))
	var bodies []string
	for _, p := range waiting.Pending {
		bodies = append(bodies, string(p.Body))
	}
	if len(bodies) != 3 || bodies[0] != "in five seconds" || bodies[2] != "in two hours" || waiting.Pending[2].DueMs != beginning+2*hour || waiting.Pending[2].Level != 18 {
		t.Errorf("pending: %+v", waiting)
	}
	if one := into[pendingList](t, s.get(t, "/test/pending?topic=orders&limit=1")); one.Total != 2 || len(one.Pending) != 1 || one.Pending[0].Topic != "orders" {
		t.Errorf("pending for one topic: %+v", one)
	}
	if got := s.clock(t); got.Pending != 3 || got.NextDueMs != beginning+5000 {
		t.Errorf("the clock knows %+v", got)
	}
	if got, want := into[moved](t, s.post(t, "/test/clock/advance-to-next", nil)), (moved{FromMs: beginning, NowMs: beginning + 5000, Steps: 1, Delivered: 1}); got != want {
		t.Errorf("to the next: %+v, want %+v", got, want)
	}
	if got, want := into[moved](t, s.post(t, "/test/clock/advance?duration=2h", nil)), (moved{FromMs: beginning + 5000, NowMs: beginning + 5000 + 2*hour, Steps: 2, Delivered: 2}); got != want {
		t.Errorf("by two hours: %+v, want %+v", got, want)
	}
	got := into[messageList](t, s.get(t, "/test/messages?topic=orders"))
	if got.Total != 2 || string(got.Messages[0].Body) != "in ten seconds" || string(got.Messages[1].Body) != "in two hours" || got.Messages[1].StoreMs != beginning+2*hour {
		t.Errorf("orders: %+v", got)
	}
	s.fails(t, "POST", "/test/clock/advance-to-next", nil, 409, "nothing-pending", "nothing is pending")
}

func TestAdvance_TakesEveryForm(t *testing.T) {
	t.Parallel()
	s := startVirtual(t)
	at := beginning
	for _, c := range []struct {
		path string
		body any
		ms   int64
	}{
		{"?duration=2h", nil, 2 * hour}, {"?duration=1500", nil, 1500}, {"?ms=1", nil, 1}, {"?ms=0", nil, 0}, {"?duration=1m&timeout=60s", nil, 60_000},
		{"", m{"duration": "1m30s"}, 90_000}, {"", m{"duration": 250}, 250}, {"", m{"ms": 7}, 7}, {"?timeout=60000", m{"ms": 7}, 7},
	} {
		got := into[moved](t, s.post(t, "/test/clock/advance"+c.path, c.body))
		if want := (moved{FromMs: at, NowMs: at + c.ms}); got != want {
			t.Errorf("%s %v: %+v, want %+v", c.path, c.body, got, want)
		}
		at += c.ms
	}
}

func TestAdvanceUntil(t *testing.T) {
	t.Parallel()
	s := startVirtual(t)
	for range 3 {
		s.post(t, "/test/messages", m{"topic": "orders", "text": "x", "delayLevel": 17})
		s.post(t, "/test/clock/advance?duration=1m", nil)
	}
	got := into[moved](t, s.post(t, "/test/clock/advance-until", m{"until": m{"topic": "orders"}, "limit": "5h"}))
	if got.Delivered != 1 || got.NowMs != beginning+hour {
		t.Errorf("until the first: %+v", got)
	}
	got = into[moved](t, s.post(t, "/test/clock/advance-until?topic=orders&messages=2", nil))
	if got.Delivered != 1 || got.NowMs != beginning+hour+60_000 {
		t.Errorf("until the second: %+v", got)
	}
	s.fails(t, "POST", "/test/clock/advance-until", m{"until": m{"topic": "orders", "messages": 9}, "limit": "5s"}, 409, "limit", "limit")
	got = into[moved](t, s.post(t, "/test/clock/advance-until?idle=true&limit=3h", nil))
	if got.Delivered != 1 {
		t.Errorf("until nothing is left: %+v", got)
	}
}

func TestAutoSkip(t *testing.T) {
	t.Parallel()
	s := startVirtual(t)
	if got := into[clockState](t, s.ok(t, "PUT", "/test/clock/auto-skip?on=true", nil)); !got.AutoSkip {
		t.Errorf("switched on: %+v", got)
	}
	s.post(t, "/test/messages", m{"topic": "orders", "text": "x", "delayLevel": 18})
	eventually(t, "the message is there", func() bool {
		return s.send(t, "GET", "/test/messages?topic=orders", nil, false, nil).status == 200 && into[messageList](t, s.get(t, "/test/messages?topic=orders")).Total == 1
	})
	if got := into[clockState](t, s.ok(t, "PUT", "/test/clock/auto-skip", m{"on": false})); got.AutoSkip || got.NowMs != beginning+2*hour {
		t.Errorf("switched off: %+v", got)
	}
}

func TestRealClock_IsNotTurned(t *testing.T) {
	t.Parallel()
	s := start(t, "--test-api")
	if got := s.clock(t); got.Virtual || got.NowMs < beginning {
		t.Errorf("the clock: %+v", got)
	}
	for _, path := range []string{"/test/clock/advance?duration=2h", "/test/clock/advance-to-next", "/test/clock/advance-until?idle=true"} {
		s.fails(t, "POST", path, nil, 409, "real-clock", "virtual")
	}
	s.fails(t, "PUT", "/test/clock/auto-skip?on=true", nil, 409, "real-clock", "virtual")
}
