package bench

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// The cold burst is due so long after the beginning; nine others for each of it are due within a day
// around.
const (
	// Both names are of one length.
	coldTopic, otherTopic = "TimerCold", "TimerElse"

	coldAt   = 60 * time.Hour
	coldFrom = 50 * time.Hour
	coldSpan = 20 * time.Hour
)

// TestTimerCold prints how fast timers that are due at one instant are delivered when nothing of
// them is in memory: they were sent among nine times as many others, two days and a half ahead on a
// virtual clock, the log behind them is deleted, and mincore tells what of their files is cached.
// WHEELMQ_BENCH_COLD is the number of all of them.
func TestTimerCold(t *testing.T) {
	requireBench(t)
	total := envInt("WHEELMQ_BENCH_COLD", 1_000_000) / conns / 10 * conns * 10
	target := peer.StartVirtual(t, peer.HomeDir(t), map[string]string{"fileReservedTime": "1", "mappedFileSizeCommitLog": strconv.Itoa(64 << 20)})
	clock := &turner{t: t, target: target}
	c := wire.Dial(t, target.BrokerAddr)
	c.MustCreateTopic(t, coldTopic, conns)
	c.MustCreateTopic(t, otherTopic, conns)
	c.Close()
	begin := clock.now()
	sendCold(t, target, total)
	clock.until(begin + coldAt.Milliseconds() - 5000)
	log := diskParts(t, target)["commitlog"]
	others := others(t, target)
	// A mapped page cannot be dropped: the server starts anew, and what it read is dropped again.
	target.Stop()
	evict(t, target.StoreDir)
	target.Launch()
	awaitTakenIn(t, target)
	evict(t, target.StoreDir)
	cached, size := resident(t, filepath.Join(target.StoreDir, "timer"))
	pids := target.PIDs()
	cpu, read, faults, start := cpuTime(t, pids), readBytes(t, pids), majorFaults(t, pids), time.Now()
	clock.advance(5 * time.Second)
	took := time.Since(start)
	flushed()
	s := sample{messages: total / 10, wall: took, cpu: cpuTime(t, pids) - cpu}
	fmt.Printf("\n| timers at one instant | among | log MiB | timer files MiB | of which in memory before (mincore) MiB | delivered/s | CPU µs each | read MiB | major faults |\n|---|---|---|---|---|---|---|---|---|\n")
	fmt.Printf("| %d | %d | %.0f | %.0f | %.1f | %.0f | %.2f | %.0f | %d |\n", s.messages, total-s.messages, mib(log), mib(size), mib(cached), s.rate(), s.perMessage(),
		mib(readBytes(t, pids)-read), majorFaults(t, pids)-faults)
	wantCold(t, target, s.messages, others)
}

// sendCold sends the burst and the others in turn: one of ten frames of a connection is the burst's.
func sendCold(t *testing.T, target *peer.Target, total int) {
	t.Helper()
	requests := make([]prepared, conns)
	for i := range requests {
		requests[i] = coldTimer(i)
	}
	if refused, err := pipeline(target.BrokerAddr, requests, depth, total/conns); err != nil || refused > 0 {
		t.Fatalf("%d timers were refused: %v", refused, err)
	}
	awaitTakenIn(t, target)
}

// coldTimer is a request every tenth copy of which is due at coldAt, for its own topic.
func coldTimer(queue int) prepared {
	p := prepare(wire.SendMessageV2, map[string]string{
		"a": "BenchProducer", "b": coldTopic, "c": "TBW102", "d": "4", "e": strconv.Itoa(queue), "f": "0",
		"g": "1796000000000", "h": "0", "j": "0", "k": "false", "m": "false", "n": "broker-a",
		"i": wire.Properties("UNIQ_KEY", soakKey, "TIMER_DELAY_MS", soakDelay),
	}, []byte(strings.Repeat("x", 128)))
	topic := strings.Index(string(p.frame), coldTopic)
	delay := strings.Index(string(p.frame), soakDelay)
	p.patch = func(frame []byte, n int) {
		name, at := otherTopic, coldFrom.Milliseconds()+rand.Int64N(coldSpan.Milliseconds())
		if n%10 == 0 {
			name, at = coldTopic, coldAt.Milliseconds()
		}
		copy(frame[topic:], name)
		digits(frame[delay:delay+len(soakDelay)], at)
	}
	return p
}

// others is how many of the other timers are delivered.
func others(t *testing.T, target *peer.Target) (n int64) {
	t.Helper()
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	for queue := range conns {
		n += c.MaxOffset(t, otherTopic, queue)
	}
	return n
}

// wantCold wants the whole burst, and of the others what was due within the last seconds only.
func wantCold(t *testing.T, target *peer.Target, burst int, before int64) {
	t.Helper()
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	got := int64(0)
	for queue := range conns {
		got += c.MaxOffset(t, coldTopic, queue)
	}
	if got != int64(burst) {
		t.Errorf("%d of %d timers were delivered", got, burst)
	}
	fmt.Printf("\nothers that were due within those five seconds: %d\n", others(t, target)-before)
}
