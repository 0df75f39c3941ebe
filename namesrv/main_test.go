package namesrv

import (
	"bufio"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
	"github.com/wheelmq/wheelmq/server"
)

// gnet's worker pool is shared by the process and lives as long as it.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/panjf2000/ants/v2.(*poolCommon).purgeStaleWorkers"),
		goleak.IgnoreAnyFunction("github.com/panjf2000/ants/v2.(*poolCommon).ticktock"),
	)
}

const deadline = await.Patience

func quiet() logrus.FieldLogger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

// fixture is a name server behind a real socket.
type fixture struct {
	t    *testing.T
	ns   *Server
	sock *server.Server
	wire *clock.Virtual
	set  *difference.Set
}

func start(t *testing.T, profile string, prepare func(*Server)) *fixture {
	t.Helper()
	set, err := difference.NewSet(profile)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, wire: clock.NewVirtual(1_000_000), set: set}
	f.ns = New(Options{Wire: f.wire, Log: quiet(), Differences: set})
	if prepare != nil {
		prepare(f.ns)
	}
	f.ns.Start()
	f.sock, err = server.New(server.Options{Name: "namesrv", Addr: "0.0.0.0:0", OnClose: f.ns.ConnClosed, Log: quiet(),
		Router: remoting.NewRouter(f.ns.Routes(), remoting.RouterOptions{Log: quiet()})})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.sock.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		defer cancel()
		if err := f.sock.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := f.ns.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// peer is a client or broker of the fixture.
type peer struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	next int32
}

func (f *fixture) dial(ip string) *peer {
	f.t.Helper()
	conn, err := net.Dial("tcp", net.JoinHostPort(ip, itoa(int(f.sock.Addr().Port()))))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(deadline))
	return &peer{t: f.t, conn: conn, in: bufio.NewReader(conn)}
}

func (p *peer) call(code int32, fields []string, body []byte) *remoting.Command {
	p.t.Helper()
	return p.callAs(remoting.Version, code, fields, body)
}

// callAs sends a request of a client version; fields are keys and values in turn.
func (p *peer) callAs(version, code int32, fields []string, body []byte) *remoting.Command {
	p.t.Helper()
	p.next++
	req := remoting.Command{Code: code, Version: version, Opaque: p.next, Body: body}
	for i := 0; i < len(fields); i += 2 {
		req.Ext.Set(fields[i], fields[i+1])
	}
	if _, err := p.conn.Write(remoting.AppendCommand(nil, &req)); err != nil {
		p.t.Fatal(err)
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(p.in, head); err != nil {
		p.t.Fatal(err)
	}
	frame := append(head, make([]byte, binary.BigEndian.Uint32(head))...)
	if _, err := io.ReadFull(p.in, frame[4:]); err != nil {
		p.t.Fatal(err)
	}
	reply := new(remoting.Command)
	if err := remoting.Decode(frame, reply); err != nil || reply.Opaque != p.next {
		p.t.Fatalf("reply %d to %d: %v", reply.Opaque, p.next, err)
	}
	return reply
}

func (p *peer) must(code int32, fields []string, body []byte) *remoting.Command {
	p.t.Helper()
	reply := p.call(code, fields, body)
	if reply.Code != remoting.Success {
		p.t.Fatalf("request %d: code %d, %s", code, reply.Code, reply.Remark)
	}
	return reply
}

func (p *peer) route(topic string) (string, bool) {
	p.t.Helper()
	reply := p.call(remoting.GetRouteInfoByTopic, []string{"topic", topic}, nil)
	return string(reply.Body), reply.Code == remoting.Success
}

// testBroker is what a broker registers with.
type testBroker struct {
	name, addr string
	id         string
	version    int64
	timeout    string
	topics     []string
}

func (b testBroker) identity() []string {
	id := b.id
	if id == "" {
		id = "0"
	}
	return []string{"brokerName", b.name, "brokerAddr", b.addr, "clusterName", "C", "brokerId", id}
}

func (b testBroker) wrapper() remoting.TopicConfigWrapper {
	w := remoting.TopicConfigWrapper{DataVersion: remoting.DataVersion{Counter: b.version, Timestamp: 7},
		TopicConfigTable: map[string]remoting.TopicConfig{}}
	for _, name := range b.topics {
		w.TopicConfigTable[name] = remoting.TopicConfig{TopicName: name, Perm: 6, ReadQueueNums: 4, WriteQueueNums: 4, TopicFilterType: "SINGLE_TAG"}
	}
	w.TopicConfigTable["TBW102"] = remoting.TopicConfig{TopicName: "TBW102", Perm: 7, ReadQueueNums: 8, WriteQueueNums: 8}
	return w
}

func (b testBroker) register(p *peer) *remoting.Command {
	p.t.Helper()
	body, err := fastjson.Marshal(remoting.RegisterBrokerBody{FilterServerList: []string{}, TopicConfigSerializeWrapper: b.wrapper()})
	if err != nil {
		p.t.Fatal(err)
	}
	fields := append(b.identity(), "haServerAddr", "10.0.0.1:10912", "enableActingMaster", "false", "compressed", "false",
		"bodyCrc32", itoa(int(crc32.ChecksumIEEE(body)&0x7FFFFFFF)))
	if b.timeout != "" {
		fields = append(fields, "heartbeatTimeoutMillis", b.timeout)
	}
	return p.must(remoting.RegisterBroker, fields, body)
}

func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	await.Until(t, what, ok)
}
