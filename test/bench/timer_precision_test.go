package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

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
