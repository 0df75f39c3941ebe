package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// outside is the address that connections through a mapped port come from.
const outside = "127.0.0.2"

// mappedPort is a port that leads to another one, as that of a container does.
type mappedPort struct {
	net.Listener
	to     atomic.Pointer[string]
	passed atomic.Int64 // connections
}

func mapPort(t *testing.T) *mappedPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &mappedPort{Listener: l}
	t.Cleanup(func() { m.Close() })
	go m.serve(t.Context())
	return m
}

func (m *mappedPort) serve(ctx context.Context) {
	for {
		conn, err := m.Accept()
		if err != nil {
			return
		}
		go m.pass(ctx, conn)
	}
}

func (m *mappedPort) pass(ctx context.Context, from net.Conn) {
	defer from.Close()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(outside)}}
	to, err := d.DialContext(ctx, "tcp", *m.to.Load())
	if err != nil {
		return
	}
	defer to.Close()
	m.passed.Add(1)
	defer context.AfterFunc(ctx, func() { from.Close(); to.Close() })()
	go func() {
		defer to.Close()
		_, _ = io.Copy(to, from)
	}()
	_, _ = io.Copy(from, to)
}

// TestAdvertise: a client behind mapped ports sends and receives through them, and the doctor goes the same way.
func TestAdvertise(t *testing.T) {
	if peer.TargetKind() == peer.Real {
		t.Skip("the real broker has no advertise")
	}
	t.Parallel()
	for name, rule := range map[string]string{"everybody": "%s", "a network": outside + "=%s"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names, broker := mapPort(t), mapPort(t)
			told := broker.Addr().String()
			server := peer.StartKind(t, peer.Ours, map[string]string{"advertise": fmt.Sprintf(rule, told)})
			names.to.Store(&server.NameServerAddr)
			broker.to.Store(&server.BrokerAddr)
			topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
			wire.Dial(t, server.BrokerAddr).MustCreateTopic(t, topic, 1)
			wire.Introduce(t, server.BrokerAddr, group, topic)

			p := goclient.Producer(t, names.Addr().String())
			sent, err := p.SendSync(t.Context(), primitive.NewMessage(topic, []byte("through a mapped port")))
			if err != nil || sent.Status != primitive.SendOK {
				t.Fatalf("sent %v: %v", sent, err)
			}
			var got atomic.Pointer[string]
			goclient.Consumer(t, names.Addr().String(), group, topic, func(m *primitive.MessageExt) consumer.ConsumeResult {
				text := string(m.Body)
				got.Store(&text)
				return consumer.ConsumeSuccess
			})
			suite.Eventually(t, 2*patience, "the message arrives", func() bool { return got.Load() != nil })
			if broker.passed.Load() < 2 {
				t.Errorf("%d connections through the broker's mapped port", broker.passed.Load())
			}
			if o := runOn(t, names.Addr().String(), "", "doctor", topic); o.code != 0 || !strings.Contains(o.stdout, "broker-a answers at "+told) {
				t.Errorf("%+v", o)
			}
			broker.Close()
			if o := runOn(t, names.Addr().String(), "", "doctor", topic); o.code != exitNobody || !strings.Contains(o.stderr, "clients are told that broker-a is at "+told) {
				t.Errorf("when the port is not mapped any more: %+v", o)
			}
			if name == "a network" {
				if o := runOn(t, server.NameServerAddr, "", "doctor", topic); o.code != 0 || !strings.Contains(o.stdout, "broker-a answers at "+server.BrokerAddr) {
					t.Errorf("from elsewhere: %+v", o)
				}
			}
		})
	}
}
