package testapi

import (
	"fmt"
	"testing"

	"github.com/wheelmq/wheelmq/test/wire"
)

// waiting is what waits, with IDs.
type waiting struct {
	Total   int
	Next    string
	Pending []struct {
		ID, Topic, Service string
		DueMs              int64
		Body               []byte
	}
}

// counted is what waits, in numbers.
type counted struct {
	Total  int
	Counts []struct {
		Topic            string
		FromMs, Messages int64
	}
}

func (s *server) waiting(t *testing.T, query string) (w waiting, bodies string) {
	t.Helper()
	w = into[waiting](t, s.get(t, "/test/pending"+query))
	for _, p := range w.Pending {
		bodies += string(p.Body) + " "
	}
	return w, bodies
}

// timer sends a message that is due in so many ms.
func (s *server) timer(t *testing.T, topic, text string, ms int64) {
	t.Helper()
	s.post(t, "/test/messages", m{"topic": topic, "text": text, "keys": "k" + text + " other", "properties": m{"TIMER_DELAY_MS": fmt.Sprint(ms)}})
}

func TestPending_IsFound(t *testing.T) {
	t.Parallel()
	s := startVirtual(t)
	for i, ms := range []int64{3 * hour, hour, 2 * hour, 30 * hour, 50 * hour} {
		s.timer(t, []string{"orders", "bills"}[i%2], fmt.Sprint(ms/hour), ms)
	}
	s.post(t, "/test/messages", m{"topic": "orders", "text": "level", "delayLevel": 18})
	for query, want := range map[string]string{
		"": "1 level 2 3 30 50 ", "?topic=bills": "1 30 ", "?key=k3": "3 ", "?key=k": "",
		fmt.Sprintf("?from=%d&to=%d", beginning+2*hour, beginning+30*hour): "level 2 3 ", "?from=2026-01-02T00:00:00Z": "30 50 ",
		"?limit=0": "",
	} {
		if _, got := s.waiting(t, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	all, after := "", ""
	for range 10 {
		page, bodies := s.waiting(t, "?limit=2"+after)
		all += bodies
		if page.Next == "" {
			break
		}
		after = "&after=" + page.Next
	}
	if all != "1 level 2 3 30 50 " {
		t.Errorf("page after page: %s", all)
	}
	if got := into[counted](t, s.get(t, "/test/pending/counts")); got.Total != 6 || len(got.Counts) != 2 || got.Counts[1].Topic != "orders" || got.Counts[1].Messages != 4 {
		t.Errorf("by topic: %+v", got)
	}
	if got := into[counted](t, s.get(t, "/test/pending/counts?step=24h&topic=orders")); got.Total != 4 || len(got.Counts) != 2 || got.Counts[0].Messages != 3 || got.Counts[1].FromMs != beginning+48*hour {
		t.Errorf("by day: %+v", got)
	}
	for _, query := range []string{"?from=yesterday", "?after=x", "/counts?step=0"} {
		s.fails(t, "GET", "/test/pending"+query, nil, 400, "invalid", "")
	}
}

func TestPending_IsChanged(t *testing.T) {
	t.Parallel()
	s := startVirtual(t)
	for i, text := range []string{"fired", "cancelled", "moved", "left"} {
		s.timer(t, "orders", text, 10*hour+int64(i))
	}
	s.post(t, "/test/messages", m{"topic": "orders", "text": "level", "delayLevel": 18})
	before, _ := s.waiting(t, "")
	level, fired, cancelled, moved, left := before.Pending[0].ID, before.Pending[1].ID, before.Pending[2].ID, before.Pending[3].ID, before.Pending[4].ID
	s.post(t, "/test/pending/"+fired+"/fire", nil)
	s.ok(t, "DELETE", "/test/pending/"+cancelled, nil)
	id := into[struct{ ID string }](t, s.post(t, "/test/pending/"+moved+"/reschedule?in=1h", nil)).ID
	again := into[struct{ ID string }](t, s.post(t, "/test/pending/"+id+"/reschedule", m{"at": "2026-01-03T00:00:00Z"})).ID
	after, bodies := s.waiting(t, "")
	if bodies != "level left moved " || after.Pending[2].ID != again || after.Pending[2].DueMs != beginning+48*hour {
		t.Errorf("what waits: %+v", after)
	}
	s.fails(t, "DELETE", "/test/pending/"+cancelled, nil, 404, "not-found", "")
	s.fails(t, "DELETE", "/test/pending/nonsense", nil, 404, "not-found", "no ID")
	s.fails(t, "POST", "/test/pending/"+level+"/fire", nil, 409, "refused", "delay level")
	wantError(t, s.send(t, "POST", "/test/pending/"+left+"/reschedule", m{"at": 1, "in": "1h"}, true, nil), 400, "invalid", "either")
	s.fails(t, "POST", "/test/pending/"+left+"/reschedule?in=100000h", nil, 400, "invalid", "ahead")
	s.post(t, "/test/clock/advance?duration=49h", nil)
	s.fails(t, "POST", "/test/pending/"+left+"/fire", nil, 409, "too-late", "too late")
	got := into[messageList](t, s.get(t, "/test/messages?topic=orders"))
	bodies = ""
	for _, message := range got.Messages {
		bodies += string(message.Body) + " "
	}
	if bodies != "fired level left moved " {
		t.Errorf("delivered: %s", bodies)
	}
}

func TestParked(t *testing.T) {
	t.Parallel()
	s := startVirtual(t)
	for _, text := range []string{"driven", "dropped"} {
		s.timer(t, "orders", text, 1000)
	}
	c := wire.Dial(t, s.Broker)
	const deleteTopic = 215
	if answer := c.Call(t, deleteTopic, map[string]string{"topic": "orders"}, nil); answer.Code != wire.Success {
		t.Fatalf("delete topic: %+v", answer)
	}
	s.post(t, "/test/clock/advance?duration=2s", nil)
	type list struct {
		Total  int
		Parked []struct {
			ID, Topic, Service, Reason string
			Body                       []byte
		}
	}
	got := into[list](t, s.get(t, "/test/parked?limit=1"))
	if got.Total != 2 || len(got.Parked) != 1 || got.Parked[0].Topic != "orders" || got.Parked[0].Service != "timer" || string(got.Parked[0].Body) != "driven" {
		t.Fatalf("parked: %+v", got)
	}
	s.fails(t, "POST", "/test/parked/0/redrive", nil, 409, "refused", "does not exist")
	s.ok(t, "PUT", "/test/topics/orders", m{"queues": 4})
	s.post(t, "/test/parked/0/redrive", nil)
	s.ok(t, "DELETE", "/test/parked/1", nil)
	for _, id := range []string{"0", "1", "2", "x"} {
		s.fails(t, "POST", "/test/parked/"+id+"/redrive", nil, 404, "not-found", "")
	}
	s.post(t, "/test/restart", nil)
	if got := into[list](t, s.get(t, "/test/parked")); got.Total != 0 {
		t.Errorf("parked: %+v", got)
	}
	messages := into[messageList](t, s.get(t, "/test/messages?topic=orders"))
	if messages.Total != 1 || string(messages.Messages[0].Body) != "driven" {
		t.Errorf("orders: %+v", messages)
	}
}
