package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/internal/freeport"
	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestOldConnectionClosing_KeepsTheFreshRegistration is case BR-72: a broker
// registered on a new connection, then its old one ended, and the route was gone.
func TestOldConnectionClosing_KeepsTheFreshRegistration(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	old, fresh := dialNameServer(t), dialNameServer(t)
	b.register(t, old)
	b.register(t, fresh)
	old.Close()
	<-old.Closed()
	if !b.staysRouted(t) {
		t.Error("the route is gone although the broker registered on a new connection")
	}
	fresh.Close()
	suite.Eventually(t, wire.Timeout, "the route ends with the connection that registered it", func() bool {
		_, answer := dialNameServer(t).Route(t, b.topic)
		return answer.Code == wire.TopicNotExist
	})
}

// TestLateUnregister_KeepsTheFreshRegistration is case BR-72: the unregister
// request of the old connection arrives after the registration on the new one.
func TestLateUnregister_KeepsTheFreshRegistration(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	old, fresh := dialNameServer(t), dialNameServer(t)
	b.register(t, old)
	b.register(t, fresh)
	wantCode(t, "unregister", old.Call(t, wire.UnregisterBroker, b.header(), nil), wire.Success)
	suite.Differs(t, "cases/late-unregister", b.staysRouted(t), "the route is gone after the late unregister")

	b.register(t, fresh)
	wantCode(t, "unregister", fresh.Call(t, wire.UnregisterBroker, b.header(), nil), wire.Success)
	suite.Eventually(t, wire.Timeout, "the connection that registered can unregister", func() bool {
		_, answer := dialNameServer(t).Route(t, b.topic)
		return answer.Code == wire.TopicNotExist
	})
}

// fakeBroker registers itself as a broker with one topic.
type fakeBroker struct{ name, addr, topic string }

func newBroker(t *testing.T) fakeBroker {
	t.Helper()
	// A name server tells brokers apart by address, so each needs its own.
	addr := fmt.Sprintf("127.%d.%d.%d:10911", rand.IntN(256), rand.IntN(256), rand.IntN(256))
	return fakeBroker{name: suite.Name(t, "broker"), addr: addr, topic: suite.Name(t, "topic")}
}

func (b fakeBroker) header() map[string]string {
	return map[string]string{
		"brokerName": b.name, "brokerAddr": b.addr, "clusterName": "other", "brokerId": "0",
		"haServerAddr": b.addr, "compressed": "false", "bodyCrc32": "0",
	}
}

// register sends 103 with two topics: a body with a single one is an increment,
// which is refused to a broker that is not registered.
func (b fakeBroker) register(t *testing.T, c *wire.Conn) {
	t.Helper()
	b.registerAt(t, c, dataVersion{Counter: 1, Timestamp: time.Now().UnixMilli()})
}

// dataVersion says how new the topics of a broker are.
type dataVersion struct {
	Counter      int64 `json:"counter"`
	StateVersion int64 `json:"stateVersion"`
	Timestamp    int64 `json:"timestamp"` // ms since 1970
}

func (b fakeBroker) registerAt(t *testing.T, c *wire.Conn, version dataVersion) {
	t.Helper()
	topic := func(name string) map[string]any {
		return map[string]any{
			"topicName": name, "readQueueNums": 1, "writeQueueNums": 1, "perm": wire.ReadWrite,
			"topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "order": false,
		}
	}
	body, err := json.Marshal(map[string]any{
		"topicConfigSerializeWrapper": map[string]any{
			"topicConfigTable": map[string]any{b.topic: topic(b.topic), b.name: topic(b.name)},
			"dataVersion":      version,
		},
		"filterServerList": []string{},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "register", c.Call(t, wire.RegisterBroker, b.header(), body), wire.Success)
	if !b.routed(t) {
		t.Fatal("no route after a registration")
	}
}

func (b fakeBroker) routed(t *testing.T) bool {
	t.Helper()
	route, answer := dialNameServer(t).Route(t, b.topic)
	return answer.Code == wire.Success && len(route.Brokers) == 1
}

// staysRouted watches for as long as the name server could need to notice the
// end of a connection or to work off a queued unregister.
func (b fakeBroker) staysRouted(t *testing.T) bool {
	t.Helper()
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if !b.routed(t) {
			return false
		}
	}
	return true
}

// TestNameServerRestart_BrokerRegistersAgain is case BR-72: routes were gone
// after a restart of the name server. A name server of the test's own is the
// second one of the broker, and loses everything in between.
func TestNameServerRestart_BrokerRegistersAgain(t *testing.T) {
	t.Parallel()
	registered := newRegistrations()
	second := wire.Listen(t, freeport.Addr(t), registered.handle)
	broker := startWithNameServer(t, second.Addr)
	c := wire.Dial(t, broker)

	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	registered.wait(t)
	second.Pause()
	registered.forget()
	second.Resume(t)
	// The shortest period that both servers allow is 10 s.
	registered.wait(t)
}

// startWithNameServer starts a broker that also registers with a name server of
// the test, and returns the broker's address.
func startWithNameServer(t *testing.T, addr string) string {
	t.Helper()
	conf := map[string]string{"namesrvAddr": addr, "registerNameServerPeriod": "10000"}
	if peer.TargetKind() == peer.Ours {
		return peer.StartTarget(t, conf).BrokerAddr
	}
	// The real broker's own name server must be in the list too, and is known by
	// its port only.
	port, err := peer.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	conf["namesrvAddr"] = peer.Address(port) + ";" + addr
	p, err := peer.Start(context.WithoutCancel(t.Context()), peer.Options{NamesrvPort: port, Broker: conf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p.BrokerAddr
}

// registrations is the memory of the test's name server.
type registrations struct {
	mu    sync.Mutex
	names map[string]int
	some  chan struct{}
}

func newRegistrations() *registrations {
	return &registrations{names: make(map[string]int), some: make(chan struct{}, 1)}
}

func (r *registrations) handle(f *wire.Frame) *wire.Frame {
	if f.Code == wire.RegisterBroker {
		r.mu.Lock()
		r.names[f.Ext["brokerName"]]++
		r.mu.Unlock()
		select {
		case r.some <- struct{}{}:
		default:
		}
	}
	return &wire.Frame{Code: wire.Success, Ext: map[string]string{"changed": strconv.FormatBool(true)}}
}

func (r *registrations) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.names)
	select {
	case <-r.some:
	default:
	}
}

func (r *registrations) wait(t *testing.T) {
	t.Helper()
	select {
	case <-r.some:
	case <-time.After(slow):
		t.Fatal("no broker registered")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names["broker-a"] == 0 {
		t.Errorf("registered: %v, want broker-a", r.names)
	}
}
