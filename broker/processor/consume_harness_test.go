package processor_test

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() logrus.FieldLogger {
	log, _ := test.NewNullLogger()
	return log
}

// conn records what it is sent, decoded.
type conn struct {
	id uint64

	mu     sync.Mutex // guards sent and closed
	sent   []remoting.Command
	closed bool
}

func (c *conn) ID() uint64                 { return c.id }
func (c *conn) RemoteAddr() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:4000") }
func (c *conn) LocalAddr() netip.AddrPort  { return netip.MustParseAddrPort("127.0.0.1:10911") }

func (c *conn) Send(frame []byte) error { return c.SendParts(frame, nil, nil) }

func (c *conn) SendParts(head []byte, parts [][]byte, release func()) error {
	for _, part := range parts {
		head = append(head, part...)
	}
	if release != nil {
		release()
	}
	var cmd remoting.Command
	if err := remoting.Decode(head, &cmd); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, cmd)
	return nil
}

func (c *conn) Close(string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

func (c *conn) Closed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// take returns and forgets what was sent.
func (c *conn) take() []remoting.Command {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := c.sent
	c.sent = nil
	return sent
}

// ext is a request's or a reply's extFields.
type ext map[string]string

// request runs one request through a router of routes and returns its reply, decoded from
// the frame, or nil when the reply is deferred.
func request(t testing.TB, routes []remoting.Route, c *conn, code int32, fields ext, body string) *remoting.Command {
	t.Helper()
	var ex remoting.Exchange
	ex.Begin(c)
	ex.Req.Code, ex.Req.Opaque, ex.Req.Version = code, 7, remoting.Version
	for key, value := range fields {
		ex.Req.Ext.Set(key, value)
	}
	ex.Req.Body = []byte(body)
	remoting.NewRouter(routes, remoting.RouterOptions{Log: quiet()}).Serve(&ex)
	if ex.Deferred() {
		return nil
	}
	frame := remoting.AppendReplyHead(nil, ex.Req.Opaque, &ex.Reply)
	for _, part := range ex.Reply.Parts {
		frame = append(frame, part...)
	}
	if ex.Reply.Release != nil {
		ex.Reply.Release()
	}
	var reply remoting.Command
	if err := remoting.Decode(frame, &reply); err != nil {
		t.Fatal(err)
	}
	return &reply
}

// wantReply checks a reply's code and remark; "" is any remark.
func wantReply(t testing.TB, reply *remoting.Command, code int32, remark string) {
	t.Helper()
	if reply == nil {
		t.Fatal("the reply is deferred")
	}
	if reply.Code != code || remark != "" && reply.Remark != remark {
		t.Errorf("code %d %q, want %d %q", reply.Code, reply.Remark, code, remark)
	}
}

func field(cmd *remoting.Command, name string) string {
	value, ok := cmd.Ext.Get(name)
	if !ok {
		return "<absent>"
	}
	return string(value)
}

func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	await.Until(t, what, cond)
}

// topics are topic configurations by name.
type topics map[string]*topic.Config

func (m topics) Get(name []byte) *topic.Config { return m[string(name)] }

func (m topics) CreateRetry(name string, queueNums, perm int32) *topic.Config {
	if m[name] == nil {
		m[name] = &topic.Config{TopicName: name, ReadQueueNums: queueNums, WriteQueueNums: queueNums, Perm: perm}
	}
	return m[name]
}

// groups are group configurations by name.
type groups map[string]*subscription.Config

func (m groups) Find(name []byte) *subscription.Config   { return m[string(name)] }
func (m groups) Lookup(name []byte) *subscription.Config { return m[string(name)] }
func (m groups) Forbids(name, _ []byte) bool {
	return m[string(name)] != nil && m[string(name)].GroupName == "forbidden"
}

func (m groups) All() []*subscription.Config {
	list := make([]*subscription.Config, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[name])
	}
	return list
}

func group(name string) *subscription.Config {
	return &subscription.Config{
		GroupName: name, ConsumeEnable: true, ConsumeBroadcastEnable: true, RetryQueueNums: 1, NotifyConsumerIDsChangedEnable: true,
	}
}

func plain(name string, queues int32) *topic.Config {
	return &topic.Config{TopicName: name, ReadQueueNums: queues, WriteQueueNums: queues, Perm: topic.PermRead | topic.PermWrite}
}
