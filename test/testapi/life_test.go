package testapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/goclient"
)

func (s *server) total(t *testing.T, topic string) int {
	t.Helper()
	return into[messageList](t, s.get(t, "/test/messages?topic="+topic)).Total
}

func TestRestart_KeepsAndReset_Forgets(t *testing.T) {
	t.Parallel()
	s := startVirtual(t)
	s.ok(t, "PUT", "/test/topics/orders?queues=1", nil)
	s.post(t, "/test/messages", m{"topic": "orders", "text": "x"})
	s.post(t, "/test/clock/advance?duration=3h", nil)
	s.post(t, "/test/restart", nil)
	if n, at := s.total(t, "orders"), s.clock(t).NowMs; n != 1 || at < beginning+3*hour {
		t.Errorf("after a restart: %d messages at %d", n, at)
	}
	s.post(t, "/test/kill", nil)
	s.ok(t, "GET", "/test/topics", nil)
	s.post(t, "/test/faults", m{"id": "f", "schedulerStalled": true})
	s.post(t, "/test/reset", nil)
	s.fails(t, "GET", "/test/messages?topic=orders", nil, 404, "not-found", "orders")
	s.fails(t, "GET", "/test/faults/f", nil, 404, "not-found", "f")
}

// TestKill_LosesWhatIsNotSynced: with SYNC_FLUSH that is nothing.
func TestKill_LosesWhatIsNotSynced(t *testing.T) {
	t.Parallel()
	s := start(t, "--test-api", "--set", "flushDiskType=SYNC_FLUSH")
	s.ok(t, "PUT", "/test/topics/orders?queues=1", nil)
	s.post(t, "/test/messages", m{"topic": "orders", "text": "x"})
	s.post(t, "/test/kill", nil)
	if n := s.total(t, "orders"); n != 1 {
		t.Errorf("%d messages after a kill, want 1", n)
	}
}

func TestSnapshot_IsGoneBackTo(t *testing.T) {
	t.Parallel()
	s := startVirtual(t)
	s.ok(t, "PUT", "/test/topics/orders?queues=1", nil)
	s.post(t, "/test/messages", m{"topic": "orders", "text": "kept"})
	if got := into[struct{ Name string }](t, s.ok(t, "PUT", "/test/snapshots/one", nil)); got.Name != "one" {
		t.Errorf("taken: %+v", got)
	}
	for range 2 {
		s.post(t, "/test/messages", m{"topic": "orders", "text": "dropped"})
		s.post(t, "/test/clock/advance?duration=1h", nil)
		if n := s.total(t, "orders"); n != 2 {
			t.Errorf("%d messages before, want 2", n)
		}
		s.post(t, "/test/snapshots/one/restore", nil)
		if n, at := s.total(t, "orders"), s.clock(t).NowMs; n != 1 || at >= beginning+hour {
			t.Errorf("%d messages at %d after it was restored, want 1", n, at)
		}
	}
	s.get(t, "/test/snapshots/one")
	if names := into[struct{ Snapshots []string }](t, s.get(t, "/test/snapshots")).Snapshots; !slices.Equal(names, []string{"one"}) {
		t.Errorf("snapshots: %v", names)
	}
	s.fails(t, "GET", "/test/snapshots/two", nil, 404, "not-found", "two")
	s.fails(t, "POST", "/test/snapshots/two/restore", nil, 404, "not-found", "two")
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	s := startVirtual(t)
	if got := into[struct{ Differences []m }](t, s.get(t, "/test/differences")).Differences; got == nil || len(got) != 0 {
		t.Errorf("differences of nothing: %v", got)
	}
	s.ok(t, "PUT", "/test/topics/orders?queues=1", nil)
	p := goclient.Producer(t, s.NameServer)
	if _, err := p.SendSync(t.Context(), primitive.NewMessage("orders", []byte("x"))); err != nil {
		t.Fatal(err)
	}
	s.post(t, "/test/messages", m{"topic": "orders", "text": "late", "delayLevel": 1})
	s.post(t, "/test/clock/advance?duration=1s", nil)
	for _, d := range into[struct{ Differences []m }](t, s.get(t, "/test/differences")).Differences {
		t.Logf("relied on: %v", d)
	}
	list := into[struct {
		Exchanges []struct{ Name, Topic, Result, Server, Client string }
	}](t, s.get(t, "/test/exchanges")).Exchanges
	sends := 0
	for _, x := range list {
		if strings.HasPrefix(x.Name, "SEND_MESSAGE") && x.Topic == "orders" && x.Result == "SUCCESS" && x.Server == "broker" {
			sends++
		}
	}
	if sends != 1 {
		t.Errorf("%d sends among %+v", sends, list)
	}
	table := s.get(t, "/test/exchanges?format=text")
	asked := s.send(t, "GET", "/test/exchanges", nil, false, func(r *http.Request) { r.Header.Set("Accept", "text/plain") })
	for _, x := range []*exchange{table, asked} {
		if text := string(x.body); !strings.HasPrefix(text, "TIME ") || !strings.Contains(text, "SEND_MESSAGE") {
			t.Errorf("as a table:\n%s", text)
		}
	}
}
