package bench

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// level3 is how long a message of delay level 3 waits by default.
const level3 = 10 * time.Second

// TestDelayBurst prints how fast a backlog of delay-level messages is delivered: they are
// stored, the whole server is stopped by SIGSTOP until all are past due, and goes on. What it
// did then is read from the copies: the store stamps each with the instant at which it was
// delivered.
func TestDelayBurst(t *testing.T) {
	requireBench(t)
	total := envInt("WHEELMQ_BENCH_BURST", 100_000)
	servers := bothServers(t, nil)
	results := map[string][]sample{}
	// The first round warms the servers up and is not counted.
	for round := range rounds + 1 {
		for _, target := range servers {
			s := burst(t, target, fmt.Sprintf("DelayBurst_%d", round), total)
			if round > 0 {
				results[target.Kind] = append(results[target.Kind], s)
			}
		}
	}
	fmt.Printf("\n| %d level-3 messages past due at once | msg/s | CPU µs/msg |\n|---|---|---|\n", total)
	for _, target := range servers {
		s := best(results[target.Kind])
		fmt.Printf("| %s | %.0f | %.2f |\n", target.Kind, s.rate(), s.perMessage())
	}
	fmt.Printf("CPU peer/ours: %s\n", ratio(best(results[peer.Real]), best(results[peer.Ours])))
}

func burst(t *testing.T, target *peer.Target, topic string, total int) sample {
	t.Helper()
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
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
	// The broker is the first; a name server delivers nothing.
	pid := target.PIDs()[0]
	signal(t, pid, syscall.SIGSTOP)
	time.Sleep(level3 + time.Second)
	warmMemory(t)
	before, resumed := cpuTime(t, target.PIDs()), time.Now().UnixMilli()
	signal(t, pid, syscall.SIGCONT)
	perQueue := int64(total / conns)
	for i := range conns {
		for c.MaxOffset(t, topic, i) < perQueue {
			time.Sleep(time.Millisecond)
		}
	}
	flushed()
	cpu := cpuTime(t, target.PIDs()) - before
	delivered, first, last := 0, int64(math.MaxInt64), int64(0)
	for i := range conns {
		// On a slow machine the first ones became due while the last ones were sent.
		from := sort.Search(int(perQueue), func(offset int) bool { return storedAt(t, c, topic, i, int64(offset)) >= resumed })
		if from == int(perQueue) {
			continue
		}
		delivered += int(perQueue) - from
		first = min(first, storedAt(t, c, topic, i, int64(from)))
		last = max(last, storedAt(t, c, topic, i, perQueue-1))
	}
	if delivered == 0 {
		t.Fatalf("%s: everything was delivered before the stop: the machine is too slow", target.Kind)
	}
	// Stamps are whole milliseconds.
	return sample{messages: delivered, wall: time.Duration(last-first+1) * time.Millisecond, cpu: cpu}
}

func signal(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
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
