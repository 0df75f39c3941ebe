package bench

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// level3 is how long a message of delay level 3 waits by default.
const level3 = 10 * time.Second

// TestDelayBurst prints how fast a backlog of delay-level messages is delivered: they are
// stored, the server is stopped until all are past due, and started again.
func TestDelayBurst(t *testing.T) {
	requireBench(t)
	total := envInt("WHEELMQ_BENCH_BURST", 100_000)
	fmt.Printf("\n| %d level-3 messages past due at start | msg/s | CPU µs/msg |\n|---|---|---|\n", total)
	for _, target := range bothServers(t) {
		s, seen := burst(t, target, total)
		if !seen {
			fmt.Printf("| %s | delivered while it started, before it could be watched | |\n", target.Kind)
			continue
		}
		fmt.Printf("| %s | %.0f | %.2f |\n", target.Kind, s.rate(), s.perMessage())
	}
}

// burst measures from the first look at the queues to their end; seen is false when everything
// was there at the first look.
func burst(t *testing.T, target *peer.Target, total int) (s sample, seen bool) {
	t.Helper()
	topic := "DelayBurst"
	c := wire.Dial(t, target.BrokerAddr)
	c.MustCreateTopic(t, topic, conns)
	requests := make([]prepared, conns)
	for i := range requests {
		requests[i] = prepare(wire.SendMessageV2, map[string]string{
			"a": "BenchProducer", "b": topic, "c": "TBW102", "d": "4", "e": strconv.Itoa(i), "f": "0",
			"g": "1796000000000", "h": "0", "j": "0", "k": "false", "m": "false", "n": "broker-a",
			"i": wire.Properties("UNIQ_KEY", "7F0000010000000000000000000000000", "WAIT", "true", "DELAY", "3"),
		}, []byte(strings.Repeat("x", 128)))
	}
	refused, err := pipeline(target.BrokerAddr, requests, depth, total/conns)
	if err != nil {
		t.Fatal(err)
	}
	if refused > 0 {
		t.Fatalf("%s: %d delayed sends were refused", target.Kind, refused)
	}
	c.Close()
	target.Stop()
	time.Sleep(level3 + time.Second)
	target.Launch()
	c = wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	want := int64(total / conns * conns)
	var first time.Time
	var firstCount int64
	var before time.Duration
	for {
		delivered := int64(0)
		for i := range conns {
			delivered += c.MaxOffset(t, topic, i)
		}
		if first.IsZero() && delivered > 0 {
			first, firstCount, before = time.Now(), delivered, cpuTime(t, target.PIDs())
		}
		if delivered >= want {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return sample{
		messages: int(max(want-firstCount, 1)), wall: time.Since(first), cpu: cpuTime(t, target.PIDs()) - before,
	}, firstCount < want
}

// bothServers starts ours and, unless WHEELMQ_BENCH_PEER=0, the real one.
func bothServers(t *testing.T) []*peer.Target {
	t.Helper()
	servers := []*peer.Target{peer.StartKind(t, peer.Ours, nil)}
	if envInt("WHEELMQ_BENCH_PEER", 1) != 0 {
		servers = append(servers, peer.StartKind(t, peer.Real, nil))
	}
	return servers
}
