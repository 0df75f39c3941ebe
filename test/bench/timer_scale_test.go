package bench

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestTimerScale prints what WHEELMQ_BENCH_PENDING pending timers cost: the rate of their sends
// beside plain ones, CPU, memory, disk, what is written, and the starts with a cold cache after
// SIGTERM and kill -9. A fifth as many have a body of 1 KiB.
// WHEELMQ_BENCH_OVER_HOURS runs the rows of one span only.
func TestTimerScale(t *testing.T) {
	requireBench(t)
	total := envInt("WHEELMQ_BENCH_PENDING", 1_000_000)
	fmt.Printf("\n| pending | over | body B | plain/s | timers/s | of plain | CPU µs plain | CPU µs timer | RssAnon growth MiB | peak MiB | timer files B each | written B plain | written B timer |" +
		" SIGTERM ms | ready ms | kill -9: ready ms | all taken in ms |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, over := range []time.Duration{time.Hour, 72 * time.Hour, 365 * 24 * time.Hour} {
		if hours := envInt("WHEELMQ_BENCH_OVER_HOURS", 0); hours > 0 && hours != int(over.Hours()) {
			continue
		}
		timerScale(t, over, 128, total)
		timerScale(t, over, 1024, total/5)
	}
}

// scaleRun is a server that timers are sent to.
type scaleRun struct {
	t      *testing.T
	target *peer.Target
	body   int
	total  int
}

func timerScale(t *testing.T, over time.Duration, body, total int) {
	t.Helper()
	r := &scaleRun{t: t, body: body, total: total / conns * conns,
		target: peer.StartForBenchmark(t, peer.Ours, map[string]string{"timerMaxDelaySec": strconv.Itoa(400 * 24 * 3600)})}
	defer r.target.Stop()
	r.room()
	plain := r.cost(func() { sendPlain(t, r.target, "TimerScalePlain", r.total/4, body) }, r.total/4)
	c := wire.Dial(t, r.target.BrokerAddr)
	c.MustCreateTopic(t, "TimerScale", conns)
	c.Close()
	base, peak := rssAnon(t, r.target.PIDs()), watchMemory(r.target)
	filesBefore := diskParts(t, r.target)["timer"]
	// Nothing is due while this is measured.
	first := time.Now().UnixMilli() + max(600_000, int64(r.total)/10)
	timers := r.cost(func() {
		sendTimers(t, r.target, "TimerScale", r.total, body, func(int) int64 { return first + rand.Int64N(over.Milliseconds()) })
		awaitTakenIn(t, r.target)
	}, r.total)
	peak.end()
	fmt.Printf("| %d | %v | %d | %.0f | %.0f | %.2f | %.2f | %.2f | %.1f | %.1f | %.1f | %.0f | %.0f |", r.total, over, body, plain.rate(), timers.rate(),
		timers.rate()/plain.rate(), plain.perMessage(), timers.perMessage(), mib(rssAnon(t, r.target.PIDs())-base), mib(peak.max.Load()-base),
		float64(diskParts(t, r.target)["timer"]-filesBefore)/float64(r.total), plain.written, timers.written)
	r.restarts()
}

// room ends the test when the disk is too small: the log, the timers' own files and the pages of both.
func (r *scaleRun) room() {
	r.t.Helper()
	need := int64(r.total)*int64(r.body+400)*5/2 + 4<<30
	if free := freeSpace(r.t, r.target.StoreDir); free < need {
		r.t.Skipf("%d timers of %d bytes need %d GiB of disk, %d are free", r.total, r.body, need>>30, free>>30)
	}
}

// cost is a sample with the bytes that were written for each message.
type cost struct {
	sample
	written float64
}

// cost measures a load until all of it is on disk.
func (r *scaleRun) cost(load func(), messages int) (c cost) {
	r.t.Helper()
	pids := r.target.PIDs()
	cpu, written, start := cpuTime(r.t, pids), writtenBytes(r.t, pids), time.Now()
	load()
	c.messages, c.wall = messages, time.Since(start)
	// Checkpoints are three seconds apart.
	time.Sleep(4 * time.Second)
	c.cpu = cpuTime(r.t, pids) - cpu
	c.written = float64(writtenBytes(r.t, pids)-written) / float64(messages)
	return c
}

// restarts ends the server both ways and starts it on a cold cache.
func (r *scaleRun) restarts() {
	r.t.Helper()
	begin := time.Now()
	r.target.Stop()
	ended := time.Since(begin)
	ready := r.coldStart()
	r.complete()
	// What is sent last is not in a checkpoint when the server is killed.
	last := time.Now().UnixMilli() + (2 * time.Hour).Milliseconds()
	sendTimers(r.t, r.target, "TimerScale", min(r.total, 100_000), r.body, func(int) int64 { return last })
	r.total += min(r.total, 100_000) / conns * conns
	r.target.Kill()
	begin = time.Now()
	again := r.coldStart()
	awaitTakenIn(r.t, r.target)
	fmt.Printf(" %d | %d | %d | %d |\n", ended.Milliseconds(), ready.Milliseconds(), again.Milliseconds(), time.Since(begin).Milliseconds())
	r.complete()
}

func (r *scaleRun) coldStart() time.Duration {
	r.t.Helper()
	evict(r.t, r.target.StoreDir)
	begin := time.Now()
	r.target.Launch()
	return time.Since(begin)
}

// complete wants every timer to pend.
func (r *scaleRun) complete() {
	r.t.Helper()
	awaitTakenIn(r.t, r.target)
	if got := int(metric(r.t, r.target, pendingOf("TimerScale"))); got != r.total {
		r.t.Errorf("%d timers pend, want %d", got, r.total)
	}
}
