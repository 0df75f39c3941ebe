// Package mixed runs one cluster of both servers: a broker of ours and a real RocketMQ 5.5.0 one, each
// registered with both name servers, and clients that know either name server.
package mixed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

const (
	nameOfOurs, nameOfReal = "broker-a", "broker-b"
	limit                  = 3 * time.Minute
)

// cluster is one broker and one name server of each kind.
type cluster struct{ ours, real *peer.Target }

func start(t *testing.T) cluster {
	t.Helper()
	peer.RequireJava(t)
	goclient.Quiet()
	ours := peer.StartKind(t, peer.Ours, map[string]string{"brokerName": nameOfOurs})
	real := peer.StartKind(t, peer.Real, map[string]string{"brokerName": nameOfReal, "namesrvAddr": ours.NameServerAddr})
	ours.Set("namesrvAddr", real.NameServerAddr)
	ours.Restart()
	return cluster{ours, real}
}

func (c cluster) nameServers() map[string]string {
	return map[string]string{"our name server": c.ours.NameServerAddr, "the real name server": c.real.NameServerAddr}
}

// makeTopic makes a topic of two queues on both brokers and waits until both name servers know.
func (c cluster) makeTopic(t *testing.T, name string) {
	t.Helper()
	for _, broker := range []string{c.ours.BrokerAddr, c.real.BrokerAddr} {
		wire.Dial(t, broker).MustCreateTopic(t, name, 2)
	}
	for who, addr := range c.nameServers() {
		c.routed(t, who, addr, name, nameOfOurs, nameOfReal)
	}
}

// routed waits until a name server knows exactly these brokers of a topic.
func (c cluster) routed(t *testing.T, who, nameServer, topic string, brokers ...string) {
	t.Helper()
	conn := wire.Dial(t, nameServer)
	var got []string
	suite.Eventually(t, limit, fmt.Sprintf("%s sends clients of %s to %v", who, topic, brokers), func() bool {
		route, _ := conn.Route(t, topic)
		got = got[:0]
		for _, q := range route.Queues {
			got = append(got, q.BrokerName)
		}
		slices.Sort(got)
		return slices.Equal(got, brokers)
	})
}

// inbox is what a group was given.
type inbox struct {
	mu   sync.Mutex // guards from
	from map[string]string
}

func consume(t *testing.T, nameServer, group, topic string) *inbox {
	t.Helper()
	in := &inbox{from: make(map[string]string)}
	goclient.Consumer(t, nameServer, group, topic, func(m *primitive.MessageExt) consumer.ConsumeResult {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.from[string(m.Body)] = m.Queue.BrokerName
		return consumer.ConsumeSuccess
	})
	return in
}

func (in *inbox) brokers(bodies []string) map[string]int {
	in.mu.Lock()
	defer in.mu.Unlock()
	counts := make(map[string]int)
	for _, body := range bodies {
		counts[in.from[body]]++
	}
	return counts
}

func send(t *testing.T, p rocketmq.Producer, topic string, n, level int) (bodies []string) {
	t.Helper()
	for i := range n {
		m := primitive.NewMessage(topic, fmt.Appendf(nil, "%s %d level %d", topic, i, level))
		if level > 0 {
			m.WithDelayTimeLevel(level)
		}
		if _, err := p.SendSync(context.Background(), m); err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(m.Body))
	}
	return bodies
}

// TestOneClusterOfBoth sends and consumes through either name server, on both brokers, looks with
// mqadmin, and takes the brokers away.
func TestOneClusterOfBoth(t *testing.T) {
	c := start(t)
	admin, err := peer.StartAdmin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close() })
	t.Run("through", func(t *testing.T) {
		for i, nameServer := range []string{c.ours.NameServerAddr, c.real.NameServerAddr} {
			t.Run([]string{"our name server", "the real name server"}[i], func(t *testing.T) {
				t.Parallel()
				topic := fmt.Sprintf("MX_Topic%d", i)
				c.makeTopic(t, topic)
				exchange(t, nameServer, topic)
				look(t, admin, nameServer, topic)
			})
		}
	})
	c.wipe(t, admin)
	c.takeAway(t)
}

// exchange sends through one name server and consumes what both brokers have.
func exchange(t *testing.T, nameServer, topic string) {
	t.Helper()
	const messages = 16
	in := consume(t, nameServer, "MX_"+topic, topic)
	p := goclient.Producer(t, nameServer)
	bodies := append(send(t, p, topic, messages, 0), send(t, p, topic, messages, 1)...)
	suite.Eventually(t, limit, "everything is consumed", func() bool { return in.brokers(bodies)[""] == 0 })
	if got := in.brokers(bodies); got[nameOfOurs] == 0 || got[nameOfReal] == 0 {
		t.Errorf("messages by broker: %v", got)
	}
}

// look is a Java client: mqadmin sees both brokers, sends to either and reads from both.
func look(t *testing.T, admin *peer.Admin, nameServer, topic string) {
	t.Helper()
	run := func(args ...string) string {
		out, errors, exit, err := admin.Run(append(args, "-n", nameServer)...)
		if err != nil || errors != "" || exit != 0 {
			t.Fatalf("mqadmin %v ends with %d: %v\n%s", args, exit, err, errors)
		}
		return out
	}
	for _, command := range []string{"clusterList", "topicRoute -t " + topic, "topicStatus -t " + topic} {
		out := run(strings.Fields(command)...)
		for _, name := range []string{nameOfOurs, nameOfReal} {
			if !strings.Contains(out, name) {
				t.Errorf("mqadmin %s does not show %s:\n%s", command, name, out)
			}
		}
	}
	for _, name := range []string{nameOfOurs, nameOfReal} {
		if out := run("sendMessage", "-t", topic, "-p", "for "+name, "-b", name, "-i", "0"); !strings.Contains(out, "SEND_OK") {
			t.Errorf("mqadmin sends to %s:\n%s", name, out)
		}
	}
	out := run("consumeMessage", "-t", topic, "-c", "100")
	for _, name := range []string{nameOfOurs, nameOfReal} {
		if !strings.Contains(out, "BODY: for "+name) {
			t.Errorf("mqadmin does not read what it sent to %s:\n%s", name, out)
		}
	}
}

// wipe takes the permission to write away from each broker at all name servers, and gives it back.
func (c cluster) wipe(t *testing.T, admin *peer.Admin) {
	t.Helper()
	addrs := c.ours.NameServerAddr + ";" + c.real.NameServerAddr
	for _, name := range []string{nameOfOurs, nameOfReal} {
		for _, command := range []string{"wipeWritePerm", "addWritePerm"} {
			out, _, _, err := admin.Run(command, "-n", addrs, "-b", name)
			if err != nil || strings.Count(out, "OK, ") != 2 || strings.Contains(out, "OK, 0") {
				t.Errorf("%s of %s: %v\n%s", command, name, err, out)
			}
		}
	}
}

// takeAway ends our broker's registration by a clean stop, and kills the real one.
func (c cluster) takeAway(t *testing.T) {
	t.Helper()
	const topic = "MX_Topic0"
	c.ours.Stop()
	c.routed(t, "the real name server", c.real.NameServerAddr, topic, nameOfReal)
	c.ours.Launch()
	for who, addr := range c.nameServers() {
		c.routed(t, who, addr, topic, nameOfOurs, nameOfReal)
	}
	c.real.Kill()
	c.routed(t, "our name server", c.ours.NameServerAddr, topic, nameOfOurs)
}
