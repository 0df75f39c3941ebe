package bench

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// placeholder stands in a timer's frame where its instant goes: 13 digits of ms.
const placeholder = "1999999999999"

// timers is a request whose n-th copy is due at due(n), ms since 1970.
func timers(topic string, queue, body int, due func(n int) int64) prepared {
	p := prepare(wire.SendMessageV2, map[string]string{
		"a": "BenchProducer", "b": topic, "c": "TBW102", "d": "4", "e": strconv.Itoa(queue), "f": "0",
		"g": "1796000000000", "h": "0", "j": "0", "k": "false", "m": "false", "n": "broker-a",
		"i": wire.Properties("UNIQ_KEY", "7F0000010000000000000000000000000", "WAIT", "true", "TIMER_DELIVER_MS", placeholder),
	}, []byte(strings.Repeat("x", body)))
	at := bytes.Index(p.frame, []byte(placeholder))
	p.patch = func(frame []byte, n int) {
		strconv.AppendInt(frame[at:at], due(n), 10)
	}
	return p
}

// sendTimers stores timers over all queues; due is given the number of a message of one queue.
func sendTimers(t *testing.T, target *peer.Target, topic string, total, body int, due func(n int) int64) time.Duration {
	t.Helper()
	requests := make([]prepared, conns)
	for i := range requests {
		requests[i] = timers(topic, i, body, due)
	}
	start := time.Now()
	refused, err := pipeline(target.BrokerAddr, requests, depth, total/conns)
	if err != nil {
		t.Fatal(err)
	}
	if refused > 0 {
		t.Fatalf("%s: %d timers were refused", target.Kind, refused)
	}
	return time.Since(start)
}

// arrivals are the instants at which the copies of a topic were stored, less those at which they
// were due, once all are there.
func arrivals(t *testing.T, target *peer.Target, topic string, total int, limit time.Duration) (late []time.Duration) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for queue := range conns {
		wg.Go(func() {
			mine := arrivalsOf(t, target, topic, queue, total/conns, limit)
			mu.Lock()
			defer mu.Unlock()
			late = append(late, mine...)
		})
	}
	wg.Wait()
	if len(late) != total/conns*conns {
		t.Fatalf("%s: %d of %d timers arrived", target.Kind, len(late), total)
	}
	return late
}

func arrivalsOf(t *testing.T, target *peer.Target, topic string, queue, total int, limit time.Duration) (late []time.Duration) {
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	for deadline := time.Now().Add(limit); len(late) < total && time.Now().Before(deadline); {
		got := c.MustPull(t, wire.Pull{Group: "BenchReader", Topic: topic, QueueID: queue, Offset: int64(len(late)), MaxMsgNums: 32})
		if len(got.Messages) == 0 {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		for _, m := range got.Messages {
			due, err := strconv.ParseInt(m.Properties["TIMER_DELIVER_MS"], 10, 64)
			if err != nil {
				t.Errorf("TIMER_DELIVER_MS of a copy: %v", err)
				return late
			}
			late = append(late, time.Duration(m.StoreTimestamp-due)*time.Millisecond)
		}
	}
	return late
}

func plain(topic string, queue, body int) prepared {
	return prepare(wire.SendMessageV2, map[string]string{
		"a": "BenchProducer", "b": topic, "c": "TBW102", "d": "4", "e": strconv.Itoa(queue), "f": "0",
		"g": "1796000000000", "h": "0", "j": "0", "k": "false", "m": "false", "n": "broker-a",
		"i": wire.Properties("UNIQ_KEY", "7F0000010000000000000000000000000", "WAIT", "true"),
	}, []byte(strings.Repeat("x", body)))
}

// TestTimerBurst prints how fast timers that are due at one instant are delivered, and what a
// delivery costs beside a plain send.
func TestTimerBurst(t *testing.T) {
	requireBench(t)
	size := map[string]int{"ours": envInt("WHEELMQ_BENCH_BURST_OURS", 1_000_000), "peer": envInt("WHEELMQ_BENCH_BURST_PEER", 100_000)}
	fmt.Printf("\n| timers due at one instant | number | sends/s | delivered/s | CPU µs/delivered | CPU µs/plain send | first late ms | following second late p99 ms |\n|---|---|---|---|---|---|---|---|\n")
	for _, target := range bothServers(t, nil) {
		// The first, small one warms the server up.
		timerBurst(t, target, "TimerBurstWarm", 20_000, false)
		timerBurst(t, target, "TimerBurst", size[target.Kind], true)
	}
}

func timerBurst(t *testing.T, target *peer.Target, topic string, total int, show bool) {
	t.Helper()
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	c.MustCreateTopic(t, topic, conns)
	c.MustCreateTopic(t, topic+"After", conns)
	plainCPU := plainCost(t, target, topic+"Plain", min(total, 200_000))
	// Twice the time that sending takes at 30,000/s, at least.
	due := time.Now().Add(5*time.Second + time.Duration(total)*time.Second/15_000).UnixMilli()
	took := sendTimers(t, target, topic, total, 128, func(int) int64 { return due })
	after := total / 100
	sendTimers(t, target, topic+"After", after, 128, func(n int) int64 { return due + 1000 + int64(n%1000) })
	if time.Now().UnixMilli() > due-1000 {
		t.Fatalf("%s: sending took until the timers were due", target.Kind)
	}
	time.Sleep(time.Until(time.UnixMilli(due - 1500)))
	warmMemory(t)
	time.Sleep(time.Until(time.UnixMilli(due - 500)))
	before := cpuTime(t, target.PIDs())
	for i := range conns {
		for c.MaxOffset(t, topic, i) < int64(total/conns) {
			time.Sleep(2 * time.Millisecond)
		}
	}
	flushed()
	cpu := cpuTime(t, target.PIDs()) - before
	first, last := span(t, c, topic, total/conns)
	late := arrivals(t, target, topic+"After", after, 5*time.Minute)
	if show {
		s := sample{messages: total, wall: time.Duration(last-first+1) * time.Millisecond, cpu: cpu}
		fmt.Printf("| %s | %d | %.0f | %.0f | %.2f | %.2f | %d | %d |\n", target.Kind, total, float64(total)/took.Seconds(), s.rate(), s.perMessage(),
			plainCPU.perMessage(), first-due, percentile(late, 99)/1000)
	}
}

// plainCost is what plain sends of the same size cost.
func plainCost(t *testing.T, target *peer.Target, topic string, total int) sample {
	t.Helper()
	before := cpuTime(t, target.PIDs())
	wall := sendPlain(t, target, topic, total, 128)
	flushed()
	return sample{messages: total, wall: wall, cpu: cpuTime(t, target.PIDs()) - before}
}

// sendPlain stores messages over all queues of a topic, which it makes.
func sendPlain(t *testing.T, target *peer.Target, topic string, total, body int) time.Duration {
	t.Helper()
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	c.MustCreateTopic(t, topic, conns)
	requests := make([]prepared, conns)
	for i := range requests {
		requests[i] = plain(topic, i, body)
	}
	start := time.Now()
	if refused, err := pipeline(target.BrokerAddr, requests, depth, total/conns); err != nil || refused > 0 {
		t.Fatalf("%s: %d messages were refused: %v", target.Kind, refused, err)
	}
	return time.Since(start)
}

// span is when the first and the last message of a topic were stored, ms.
func span(t *testing.T, c *wire.Conn, topic string, perQueue int) (first, last int64) {
	t.Helper()
	for i := range conns {
		at := storedAt(t, c, topic, i, 0)
		if first == 0 || at < first {
			first = at
		}
		last = max(last, storedAt(t, c, topic, i, int64(perQueue-1)))
	}
	return first, last
}
