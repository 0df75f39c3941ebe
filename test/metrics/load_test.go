package metrics

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

const (
	topic = "orders"
	group = "billing"
	limit = 3 * time.Minute
)

// server is a server with metrics, and where they are.
type server struct {
	*peer.Target
	metrics string // host:port
}

func start(t *testing.T) *server {
	t.Helper()
	port, err := peer.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	conf := map[string]string{}
	if peer.TargetKind() == peer.Real {
		conf = map[string]string{
			"metricsExporterType": "PROM", "metricsPromExporterHost": "127.0.0.1", "metricsPromExporterPort": strconv.Itoa(port),
			"recallMessageEnable": "true", "timerWheelEnable": "true",
		}
	}
	s := &server{Target: peer.StartTarget(t, conf)}
	if s.metrics = s.HTTPAddr; peer.TargetKind() == peer.Real {
		s.metrics = peer.Address(port)
	}
	return s
}

// scrape is the text of /metrics.
func (s *server) scrape(t *testing.T) string {
	t.Helper()
	reply, err := http.Get("http://" + s.metrics + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v", reply.StatusCode, err)
	}
	return string(text)
}

// load puts messages of every kind through a server: five plain ones, of which a group has
// committed three; one of a delay level and one timer, delivered; one timer of an hour; a
// transaction that is committed, one that is rolled back and one that is open; a message that is
// sent back.
func (s *server) load(t *testing.T) {
	t.Helper()
	c := wire.Dial(t, s.BrokerAddr)
	t.Cleanup(c.Close) // the clients stay
	c.MustCreateTopic(t, topic, 1)
	c.HeartbeatProducer(t, "producer-1", "shop")
	c.Heartbeat(t, wire.Member{ClientID: "consumer-1", Group: group, Subscriptions: map[string]string{topic: "*"}})
	for i := range 5 {
		c.MustSend(t, wire.Send{Topic: topic, Body: fmt.Append(nil, i)})
	}
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("level"), Properties: wire.Properties("DELAY", "1")})
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("timer"), Properties: wire.Properties("TIMER_DELAY_MS", "1000")})
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("far"), Properties: wire.Properties("TIMER_DELAY_SEC", "3600")})
	c.End(t, c.Prepare(t, topic, "shop", "KEY1"), wire.CommitTransaction, false)
	c.End(t, c.Prepare(t, topic, "shop", "KEY2"), wire.RollbackTransaction, false)
	c.Prepare(t, topic, "shop", "KEY3")
	c.Settle(t, topic, 0, 8)
	got := c.PullAll(t, wire.Pull{Group: group, Topic: topic})
	c.Commit(t, group, topic, 0, 3)
	if answer := c.SendBack(t, group, topic, got[0].CommitLogOffset, 0); answer.Code != wire.Success {
		t.Fatal(answer)
	}
	if answer := c.SendBack(t, group, topic, got[1].CommitLogOffset, -1); answer.Code != wire.Success {
		t.Fatal(answer)
	}
	suite.Eventually(t, limit, "the dead letter", func() bool { return c.MaxOffset(t, "%DLQ%"+group, 0) == 1 })
}
