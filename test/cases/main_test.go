package cases

import (
	"testing"

	"github.com/apache/rocketmq-client-go/v2/rlog"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

func TestMain(m *testing.M) {
	rlog.SetLogLevel("fatal")
	// Off in the real broker unless set.
	suite.Main(m, map[string]string{"enablePropertyFilter": "true"})
}

// dialBroker connects to the common broker.
func dialBroker(t *testing.T) *wire.Conn {
	t.Helper()
	return wire.Dial(t, suite.Server().BrokerAddr)
}

// fill makes a topic of one queue that holds n messages.
func fill(t *testing.T, c *wire.Conn, topic string, n int) {
	t.Helper()
	c.MustCreateTopic(t, topic, 1)
	for range n {
		c.MustSend(t, wire.Send{Topic: topic, Body: []byte("x")})
	}
	c.Settle(t, topic, 0, int64(n))
}

// dialNameServer connects to the common name server.
func dialNameServer(t *testing.T) *wire.Conn {
	t.Helper()
	return wire.Dial(t, suite.Server().NameServerAddr)
}

// wantCode fails the test unless the answer has the code.
func wantCode(t *testing.T, what string, answer *wire.Frame, code int) {
	t.Helper()
	if answer.Code != code {
		t.Errorf("%s: got %v, want code %d", what, answer, code)
	}
}

// bodies are the bodies of messages as strings, in order.
func bodies(messages []wire.Message) []string {
	list := make([]string, len(messages))
	for i, m := range messages {
		list[i] = string(m.Body)
	}
	return list
}
