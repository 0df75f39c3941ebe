package bench

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(nullEnv); addr != "" {
		runNullServer(addr)
	}
	os.Exit(m.Run())
}

const (
	conns = 8
	depth = 32
	// rounds are run in turn on every server; the one with the least CPU is quoted.
	rounds = 3
)

// sample is one measured round.
type sample struct {
	messages int
	wall     time.Duration
	cpu      time.Duration
}

func (s sample) perMessage() float64 {
	return float64(s.cpu.Nanoseconds()) / 1000 / float64(s.messages)
}
func (s sample) rate() float64 { return float64(s.messages) / s.wall.Seconds() }

// TestThroughput prints server CPU µs per message of the pipelined paths.
func TestThroughput(t *testing.T) {
	requireBench(t)
	servers := bothServers(t, nil)
	nullPort, err := peer.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	nullAddr := peer.Address(nullPort)
	nullPID := startNull(t, nullAddr)
	waitListening(t, nullAddr)

	size := map[string]int{"ours": envInt("WHEELMQ_BENCH_MESSAGES", 400_000), "peer": envInt("WHEELMQ_BENCH_PEER_MESSAGES", 100_000)}
	type row struct {
		name string
		load func(t *testing.T, target *peer.Target, round, total int) sample
		null int // body of the null server's round, bytes; 0 for none
	}
	rows := []row{
		{"send 128 B", func(t *testing.T, target *peer.Target, round, total int) sample {
			return sendRound(t, target, fmt.Sprintf("Send128_%d", round), 128, 1, total)
		}, 128},
		{"send 1 KiB", func(t *testing.T, target *peer.Target, round, total int) sample {
			return sendRound(t, target, fmt.Sprintf("Send1K_%d", round), 1024, 1, total/2)
		}, 1024},
		{"batch 100 × 128 B", func(t *testing.T, target *peer.Target, round, total int) sample {
			return sendRound(t, target, fmt.Sprintf("Batch_%d", round), 128, 100, total)
		}, 0},
		{"pull drain 128 B", func(t *testing.T, target *peer.Target, round, _ int) sample {
			return pullRound(t, target, fmt.Sprintf("Send128_%d", round))
		}, 0},
	}
	if only := os.Getenv("WHEELMQ_BENCH_ROWS"); only != "" {
		rows = slices.DeleteFunc(rows, func(r row) bool { return !strings.Contains(only, r.name) })
	}
	results := map[string][]sample{}
	// The first round warms the servers up and is not counted.
	for round := range rounds + 1 {
		for _, row := range rows {
			for _, target := range servers {
				warmMemory(t)
				s := row.load(t, target, round, size[target.Kind])
				if round > 0 {
					results[row.name+"/"+target.Kind] = append(results[row.name+"/"+target.Kind], s)
				}
			}
			if row.null == 0 {
				continue
			}
			warmMemory(t)
			s := nullRound(t, nullAddr, nullPID, row.null, size["ours"])
			if round > 0 {
				results[row.name+"/null"] = append(results[row.name+"/null"], s)
			}
		}
	}
	fmt.Printf("\n| %d connections, %d in flight each | ours µs | peer µs | null µs | peer/ours | ours/null | ours msg/s | peer msg/s |\n|---|---|---|---|---|---|---|---|\n", conns, depth)
	for _, row := range rows {
		o, p, n := best(results[row.name+"/ours"]), best(results[row.name+"/peer"]), best(results[row.name+"/null"])
		fmt.Printf("| %s | %s | %s | %s | %s | %s | %s | %s |\n", row.name, micros(o), micros(p), micros(n),
			ratio(p, o), ratio(o, n), rate(o), rate(p))
	}
	for _, target := range servers {
		fmt.Printf("RssAnon after the load, %s: %.1f MiB\n", target.Kind, float64(rssAnon(t, target.PIDs()))/(1<<20))
	}
}

// sendRound sends total messages, batch of them in one request, to one queue per
// connection while a consumer waits on each queue, and stops the clock when the queues
// hold the last message.
func sendRound(t *testing.T, target *peer.Target, topic string, size, batch, total int) sample {
	t.Helper()
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	c.MustCreateTopic(t, topic, conns)
	stop := waitOnQueues(t, target, topic)
	defer stop()

	body := []byte(strings.Repeat("x", size))
	code := wire.SendMessageV2
	properties := wire.Properties("UNIQ_KEY", "7F0000010000000000000000000000000", "TAGS", "TagA", "KEYS", "key-1", "WAIT", "true")
	if batch > 1 {
		code = wire.SendBatchMessage
		items := make([]wire.BatchItem, batch)
		for i := range items {
			items[i] = wire.BatchItem{Body: body, Properties: properties}
		}
		body, properties = wire.Batch(items...), ""
	}
	requests := make([]prepared, conns)
	for i := range requests {
		requests[i] = prepare(code, map[string]string{
			"a": "BenchProducer", "b": topic, "c": "TBW102", "d": "4", "e": strconv.Itoa(i), "f": "0",
			"g": "1796000000000", "h": "0", "i": properties, "j": "0", "k": "false", "m": strconv.FormatBool(batch > 1), "n": "broker-a",
		}, body)
	}
	perConn := total / conns / batch
	inFlight := depth
	if batch > 1 {
		inFlight = 4
	}
	before, start := cpuTime(t, target.PIDs()), time.Now()
	refused, err := pipeline(target.BrokerAddr, requests, inFlight, perConn)
	if err != nil {
		t.Fatal(err)
	}
	if refused > 0 {
		t.Fatalf("%s: %d of %d sends to %s were refused", target.Kind, refused, perConn*conns, topic)
	}
	for i := range requests {
		for c.MaxOffset(t, topic, i) < int64(perConn*batch) {
			time.Sleep(time.Millisecond)
		}
	}
	wall := time.Since(start)
	flushed()
	return sample{messages: perConn * batch * conns, wall: wall, cpu: cpuTime(t, target.PIDs()) - before}
}

// waitOnQueues parks a long poll on every queue with a tag that no message has, so that
// each arrival is looked at for a waiting consumer.
func waitOnQueues(t *testing.T, target *peer.Target, topic string) (stop func()) {
	t.Helper()
	c := wire.Dial(t, target.BrokerAddr)
	for i := range conns {
		err := c.Write(mustFrame(t, wire.PullMessage, i+1, map[string]string{
			"consumerGroup": "BenchWaiter", "topic": topic, "queueId": strconv.Itoa(i), "queueOffset": "0",
			"maxMsgNums": "32", "sysFlag": strconv.Itoa(wire.PullSuspend | wire.PullSubscription), "commitOffset": "0",
			"suspendTimeoutMillis": "60000", "subVersion": "0", "subscription": "NoSuchTag", "expressionType": "TAG",
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
	return c.Close
}

func mustFrame(t *testing.T, code, opaque int, ext map[string]string) []byte {
	t.Helper()
	b, err := (&wire.Frame{Code: code, Opaque: int32(opaque), Language: "JAVA", Version: 513, Ext: ext}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pullRound drains a topic that a send round has filled, one connection per queue.
func pullRound(t *testing.T, target *peer.Target, topic string) sample {
	t.Helper()
	before, start := cpuTime(t, target.PIDs()), time.Now()
	counts := make(chan int, conns)
	for queue := range conns {
		go func() {
			n, err := drain(target.BrokerAddr, topic, queue)
			if err != nil {
				t.Error(err)
			}
			counts <- n
		}()
	}
	total := 0
	for range conns {
		total += <-counts
	}
	if total == 0 {
		t.Fatalf("%s: nothing pulled from %s", target.Kind, topic)
	}
	return sample{messages: total, wall: time.Since(start), cpu: cpuTime(t, target.PIDs()) - before}
}

func drain(addr, topic string, queue int) (int, error) {
	c, err := wire.Open(addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	n := 0
	for offset := "0"; ; {
		reply, err := c.Do(ctx, wire.PullMessage, map[string]string{
			"consumerGroup": "BenchPuller", "topic": topic, "queueId": strconv.Itoa(queue), "queueOffset": offset,
			"maxMsgNums": "32", "sysFlag": strconv.Itoa(wire.PullSubscription), "commitOffset": "0",
			"suspendTimeoutMillis": "0", "subVersion": "0", "subscription": "*", "expressionType": "TAG",
		}, nil)
		if err != nil {
			return n, err
		}
		if reply.Code == wire.PullNotFound {
			return n, nil
		}
		if reply.Code != wire.Success {
			return n, fmt.Errorf("pull %s/%d at %s: %s", topic, queue, offset, reply)
		}
		next := reply.Ext["nextBeginOffset"]
		from, _ := strconv.Atoi(offset)
		to, _ := strconv.Atoi(next)
		n, offset = n+to-from, next
	}
}

func nullRound(t *testing.T, addr string, pid, size, total int) sample {
	t.Helper()
	requests := make([]prepared, conns)
	for i := range requests {
		requests[i] = prepare(wire.SendMessageV2, map[string]string{
			"a": "BenchProducer", "b": "Null", "c": "TBW102", "d": "4", "e": strconv.Itoa(i), "f": "0",
			"g": "1796000000000", "h": "0", "j": "0", "k": "false", "m": "false", "n": "broker-a",
			"i": wire.Properties("UNIQ_KEY", "7F0000010000000000000000000000000", "TAGS", "TagA", "KEYS", "key-1", "WAIT", "true"),
		}, []byte(strings.Repeat("x", size)))
	}
	before, start := cpuTime(t, []int{pid}), time.Now()
	if _, err := pipeline(addr, requests, depth, total/conns); err != nil {
		t.Fatal(err)
	}
	return sample{messages: total, wall: time.Since(start), cpu: cpuTime(t, []int{pid}) - before}
}

func requireBench(t *testing.T) {
	t.Helper()
	if os.Getenv("WHEELMQ_BENCH") != "1" {
		t.Skip("a benchmark: run it with make bench (WHEELMQ_BENCH=1)")
	}
}

func waitListening(t *testing.T, addr string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		nc, err := net.Dial("tcp", addr)
		if err == nil {
			nc.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}
