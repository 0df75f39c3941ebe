package bench

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// filtered are the measured expressions; of a hundred messages each has a price of its own.
var filtered = []struct{ name, expression string }{
	{"a text, none matches", "region = 'us'"},
	{"a number and a list, 2 of 100 match", "price BETWEEN 90 AND 91 AND region IN ('eu', 'us')"},
	{"a missing property", "colour IS NOT NULL"},
}

// TestFilter prints server CPU µs per message that a pull by SQL92 looks at, on a broker that has
// not served a transaction: the real one spins from its first on.
func TestFilter(t *testing.T) {
	requireBench(t)
	servers := bothServers(t, map[string]string{"enablePropertyFilter": "true"})
	const topic = "Filtered"
	size := map[string]int{"ours": envInt("WHEELMQ_BENCH_MESSAGES", 400_000), "peer": envInt("WHEELMQ_BENCH_PEER_MESSAGES", 100_000)}
	for _, target := range servers {
		fillPriced(t, target, topic, size[target.Kind])
	}
	results := map[string][]sample{}
	// The first round warms the servers up and is not counted.
	for round := range rounds + 1 {
		for _, row := range filtered {
			for _, target := range servers {
				s := filterRound(t, target, topic, row.expression, size[target.Kind])
				if round > 0 {
					results[row.name+"/"+target.Kind] = append(results[row.name+"/"+target.Kind], s)
				}
			}
		}
	}
	fmt.Printf("\n| %d connections, SQL92 | ours µs | peer µs | peer/ours | ours msg/s | peer msg/s |\n|---|---|---|---|---|---|\n", conns)
	for _, row := range filtered {
		o, p := best(results[row.name+"/ours"]), best(results[row.name+"/peer"])
		fmt.Printf("| `%s`: %s | %s | %s | %s | %s | %s |\n", row.expression, row.name, micros(o), micros(p), ratio(p, o), rate(o), rate(p))
	}
}

// fillPriced stores total messages of 128 B in one queue per connection, with prices from 00 to 99
// in turn.
func fillPriced(t *testing.T, target *peer.Target, topic string, total int) {
	t.Helper()
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	c.MustCreateTopic(t, topic, conns)
	properties := wire.Properties("UNIQ_KEY", "7F0000010000000000000000000000000", "TAGS", "TagA", "region", "eu", "price", "00", "WAIT", "true")
	requests := make([]prepared, conns)
	for i := range requests {
		requests[i] = prepare(wire.SendMessageV2, map[string]string{
			"a": "BenchProducer", "b": topic, "c": "TBW102", "d": "4", "e": strconv.Itoa(i), "f": "0",
			"g": "1796000000000", "h": "0", "i": properties, "j": "0", "k": "false", "m": "false", "n": "broker-a",
		}, []byte(strings.Repeat("x", 128)))
		const before = `price\u0001`
		price := bytes.Index(requests[i].frame, []byte(before)) + len(before)
		requests[i].patch = func(frame []byte, n int) { copy(frame[price:], fmt.Sprintf("%02d", n%100)) }
	}
	if refused, err := pipeline(target.BrokerAddr, requests, depth, total/conns); err != nil || refused > 0 {
		t.Fatalf("%s: %d refused, %v", target.Kind, refused, err)
	}
	for i := range requests {
		c.Settle(t, topic, i, int64(total/conns))
	}
	flushed()
}

// filterRound pulls every queue to its end by an expression.
func filterRound(t *testing.T, target *peer.Target, topic, expression string, total int) sample {
	t.Helper()
	before, start := cpuTime(t, target.PIDs()), time.Now()
	failed := make(chan error, conns)
	for queue := range conns {
		go func() { failed <- passBy(target.BrokerAddr, topic, queue, expression, int64(total/conns)) }()
	}
	for range conns {
		if err := <-failed; err != nil {
			t.Fatalf("%s: %v", target.Kind, err)
		}
	}
	return sample{messages: total, wall: time.Since(start), cpu: cpuTime(t, target.PIDs()) - before}
}

// passBy pulls a queue by an expression until its end.
func passBy(addr, topic string, queue int, expression string, end int64) error {
	c, err := wire.Open(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	p := wire.Pull{Group: "BenchFilter", Topic: topic, QueueID: queue, Subscription: expression, ExpressionType: "SQL92"}
	for p.Offset < end {
		got, err := c.Pull(ctx, p)
		if err != nil {
			return err
		}
		if got.Code != wire.Success && got.Code != wire.PullRetryImmediately || got.NextBeginOffset <= p.Offset {
			return fmt.Errorf("pull %s/%d at %d: %v", topic, queue, p.Offset, got.Frame)
		}
		p.Offset = got.NextBeginOffset
	}
	return nil
}
