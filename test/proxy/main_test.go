package proxy

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"sync"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/proxy/clients"
)

// parallel is how many tests run at the same time: they wait far more than they compute.
const parallel = "64"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// lab is a server with a proxy in front of it.
type lab struct {
	target *peer.Target
	proxy  *peer.Proxy

	// making is held while a topic is made: the real broker takes long for many at the same time.
	making sync.Mutex
	// creating bounds how many producers and consumers start at the same time.
	creating chan struct{}
}

// start starts both servers, the broker with further keys. The proxy's limits are lowered where its own would make a test wait: an
// invisible time is at least 10 s, a long poll at least 5 s.
func start(t *testing.T, further map[string]string) *lab {
	t.Helper()
	conf := map[string]string{
		"recallMessageEnable": "true", "enablePropertyFilter": "true",
		// The real broker asks about what it was told up to three seconds ago.
		"transactionTimeOut": "5000", "transactionCheckInterval": "5000",
	}
	maps.Copy(conf, further)
	target := peer.StartTarget(t, conf)
	return &lab{target: target, creating: make(chan struct{}, 8), proxy: peer.StartProxy(t, target, map[string]any{
		"minInvisibleTimeMillsForRecv": 1000, "grpcClientConsumerMinLongPollingTimeoutMillis": 1000,
		"transactionHeartbeatPeriodSecond": 1,
	})}
}

// program is a client's process and what its consumers were told.
type program struct {
	*clients.Process

	mu     sync.Mutex
	events map[string][]*clients.Reply // by the name of the producer or consumer
}

func (l *lab) program(t *testing.T, client string) *program {
	t.Helper()
	peer.RequireTools(t, clients.Tools(client)...)
	p := &program{events: make(map[string][]*clients.Reply)}
	var err error
	p.Process, err = clients.Start(t.Context(), client, l.proxy.GRPCAddr, peer.HomeDir(t), p.tell)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() && p.Printed() != "" {
			t.Logf("the client printed:\n%s", p.Printed())
		}
		p.Kill()
	})
	return p
}

func (p *program) tell(r *clients.Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events[r.Client] = append(p.events[r.Client], r)
}

// told are the messages of the events of a producer or consumer.
func (p *program) told(name string) []clients.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	var messages []clients.Message
	for _, r := range p.events[name] {
		messages = append(messages, r.Messages...)
	}
	return messages
}

// TestClients plays every scenario with every client, all at the same time.
func TestClients(t *testing.T) {
	t.Parallel()
	peer.RequireJava(t)
	l := start(t, nil)
	for _, client := range []string{clients.Java, clients.Go, clients.Python, clients.Node} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			p := l.program(t, client)
			for _, s := range scenarios {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					s.play(newStage(t, l, p, client))
				})
			}
		})
	}
}
