package bench

import (
	"fmt"
	"math"
	"sort"
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
// stored, the server is stopped until all are past due, and started again. Both deliver while
// they start, so what they did is read from the copies: the store stamps each with the instant
// at which it was delivered.
func TestDelayBurst(t *testing.T) {
	requireBench(t)
	total := envInt("WHEELMQ_BENCH_BURST", 100_000)
	fmt.Printf("\n| up to %d level-3 messages past due at start | messages | msg/s | CPU µs/msg | of it counted |\n|---|---|---|---|---|\n", total)
	counted := map[string]string{
		peer.Ours: "the whole process from its start on",
		peer.Real: "the threads that deliver and dispatch; not flush, GC, start",
	}
	for range rounds {
		for _, target := range bothServers(t, nil) {
			s := burst(t, target, total)
			fmt.Printf("| %s | %d | %.0f | %.2f | %s |\n", target.Kind, s.messages, s.rate(), s.perMessage(), counted[target.Kind])
			target.Kill()
		}
	}
}

func burst(t *testing.T, target *peer.Target, total int) sample {
	t.Helper()
	const topic = "DelayBurst"
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
	warmMemory(t)
	launched := time.Now().UnixMilli()
	target.Launch()
	c = wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	perQueue := int64(total / conns)
	for i := range conns {
		for c.MaxOffset(t, topic, i) < perQueue {
			time.Sleep(time.Millisecond)
		}
	}
	cpu := cpuTime(t, target.PIDs())
	if target.Kind == peer.Real {
		// A JVM's start costs more than the deliveries. Names of threads are cut to 15 bytes.
		cpu = threadTime(t, target.PIDs(), "ScheduleMessage", "ReputMessageSer")
	}
	delivered, first, last := 0, int64(math.MaxInt64), int64(0)
	for i := range conns {
		// On a slow machine the first ones became due while the last ones were sent.
		from := sort.Search(int(perQueue), func(offset int) bool { return storedAt(t, c, topic, i, int64(offset)) >= launched })
		if from == int(perQueue) {
			continue
		}
		delivered += int(perQueue) - from
		first = min(first, storedAt(t, c, topic, i, int64(from)))
		last = max(last, storedAt(t, c, topic, i, perQueue-1))
	}
	if delivered == 0 {
		t.Fatalf("%s: everything was delivered before the start", target.Kind)
	}
	// Stamps are whole milliseconds.
	return sample{messages: delivered, wall: time.Duration(last-first+1) * time.Millisecond, cpu: cpu}
}

// storedAt is when the message at an offset was stored, ms.
func storedAt(t *testing.T, c *wire.Conn, topic string, queue int, offset int64) int64 {
	t.Helper()
	got := c.MustPull(t, wire.Pull{Group: "BenchReader", Topic: topic, QueueID: queue, Offset: offset, MaxMsgNums: 1})
	if len(got.Messages) == 0 {
		t.Fatalf("nothing at %d of %s/%d: %v", offset, topic, queue, got.Frame)
	}
	return got.Messages[0].StoreTimestamp
}
