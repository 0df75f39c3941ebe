package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
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

// sleepers are what the machine lets nobody be better than: a goroutine that only sleeps until
// instants, and notes how late it was, until stop is closed.
func sleepers(stop <-chan struct{}) <-chan []time.Duration {
	out := make(chan []time.Duration, 1)
	go func() {
		var late []time.Duration
		for next := time.Now(); ; {
			next = next.Add(2 * time.Millisecond)
			select {
			case <-time.After(time.Until(next)):
				late = append(late, time.Since(next))
			case <-stop:
				out <- late
				return
			}
		}
	}()
	return out
}

// TestTimerPrecision prints how late timers are that are due over half a minute, beside a bare
// sleeper, on an idle server and under plain sends.
func TestTimerPrecision(t *testing.T) {
	requireBench(t)
	total := envInt("WHEELMQ_BENCH_TIMERS", 100_000)
	fmt.Printf("\n| %d timers over 3–30 s | load msg/s | earliest ms | p50 ms | p99 ms | max ms | sleeper p50 / p99 ms |\n|---|---|---|---|---|---|---|\n", total)
	for _, target := range bothServers(t, nil) {
		for _, load := range []int{0, 10_000} {
			precision(t, target, total, load)
		}
	}
}

func precision(t *testing.T, target *peer.Target, total, load int) {
	t.Helper()
	topic := fmt.Sprintf("TimerPrecision%d", load)
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	c.MustCreateTopic(t, topic, conns)
	start := time.Now().UnixMilli()
	stop := make(chan struct{})
	bare := sleepers(stop)
	var wg sync.WaitGroup
	if load > 0 {
		wg.Go(func() { plainLoad(t, target, load, stop) })
	}
	sendTimers(t, target, topic, total, 128, func(int) int64 { return start + 3000 + rand.Int64N(27_000) })
	time.Sleep(time.Until(time.UnixMilli(start + 31_000)))
	late := arrivals(t, target, topic, total, 2*time.Minute)
	close(stop)
	wg.Wait()
	idle := <-bare
	slices.Sort(late)
	fmt.Printf("| %s | %d | %d | %d | %d | %d | %.1f / %.1f |\n", target.Kind, load, late[0].Milliseconds(),
		percentile(late, 50)/1000, percentile(late, 99)/1000, late[len(late)-1].Milliseconds(),
		float64(percentile(idle, 50))/1000, float64(percentile(idle, 99))/1000)
}

// plainLoad sends about so many messages a second until stop.
func plainLoad(t *testing.T, target *peer.Target, perSecond int, stop <-chan struct{}) {
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	c.MustCreateTopic(t, "TimerLoad", 1)
	request := plain("TimerLoad", 0, 128)
	for next := time.Now(); ; next = next.Add(10 * time.Millisecond) {
		select {
		case <-stop:
			return
		case <-time.After(time.Until(next)):
		}
		if _, err := pipeline(target.BrokerAddr, []prepared{request}, depth, perSecond/100); err != nil {
			t.Error(err)
			return
		}
	}
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
	requests := make([]prepared, conns)
	for i := range requests {
		requests[i] = plain(topic, i, 128)
	}
	before, start := cpuTime(t, target.PIDs()), time.Now()
	if _, err := pipeline(target.BrokerAddr, requests, depth, total/conns); err != nil {
		t.Fatal(err)
	}
	wall := time.Since(start)
	flushed()
	return sample{messages: total, wall: wall, cpu: cpuTime(t, target.PIDs()) - before}
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

// TestTimerScale prints what many pending timers cost: the rate of their sends beside plain ones,
// memory, disk, and the restart.
func TestTimerScale(t *testing.T) {
	requireBench(t)
	total := envInt("WHEELMQ_BENCH_PENDING", 2_000_000)
	fmt.Printf("\n| %d pending over | body B | sends/s | of plain | RssAnon growth MiB | disk B each | restart ms |\n|---|---|---|---|---|---|---|\n", total)
	for _, span := range []time.Duration{time.Hour, 72 * time.Hour, 365 * 24 * time.Hour} {
		for _, body := range []int{128, 1024} {
			timerScale(t, span, body, total)
		}
	}
}

func timerScale(t *testing.T, over time.Duration, body, total int) {
	t.Helper()
	target := peer.StartForBenchmark(t, peer.Ours, map[string]string{"timerMaxDelaySec": strconv.Itoa(400 * 24 * 3600)})
	c := wire.Dial(t, target.BrokerAddr)
	c.MustCreateTopic(t, "TimerScale", conns)
	requests := make([]prepared, conns)
	for i := range requests {
		requests[i] = plain("TimerScalePlain", i, body)
	}
	start := time.Now()
	if _, err := pipeline(target.BrokerAddr, requests, depth, total/4/conns); err != nil {
		t.Fatal(err)
	}
	plainRate := float64(total/4) / time.Since(start).Seconds()
	flushed()
	before, diskBefore := rssAnon(t, target.PIDs()), diskUse(t, target)
	now := time.Now().UnixMilli()
	// Nothing is due while this is measured.
	took := sendTimers(t, target, "TimerScale", total, body, func(int) int64 { return now + 600_000 + rand.Int64N(over.Milliseconds()) })
	for metric(t, target, "wheelmq_timer_pending") < float64(total/conns*conns) {
		time.Sleep(20 * time.Millisecond)
	}
	flushed()
	grown, disk := rssAnon(t, target.PIDs())-before, diskUse(t, target)-diskBefore
	sendRate := float64(total) / took.Seconds()
	c.Close()
	begin := time.Now()
	target.Restart()
	fmt.Printf("| %v | %d | %.0f | %.2f | %.1f | %d | %d |\n", over, body, sendRate, sendRate/plainRate, float64(grown)/(1<<20), disk/int64(total), time.Since(begin).Milliseconds())
	target.Stop()
}
