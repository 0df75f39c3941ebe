package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// openLimit is how long a stage of TestTransactionOpen may take.
const openLimit = 5 * time.Minute

// TestTransactionOpen prints the memory of WHEELMQ_BENCH_OPEN half messages that nobody ends: when
// they are stored, when the first check of all is due and no producer is there, when a producer was
// asked about each, and after a kill -9 and a start.
func TestTransactionOpen(t *testing.T) {
	requireBench(t)
	total := envInt("WHEELMQ_BENCH_OPEN", 1_000_000) / conns * conns
	target := peer.StartForBenchmark(t, peer.Ours, nil)
	const topic = "TransactionOpen"
	c := wire.Dial(t, target.BrokerAddr)
	c.MustCreateTopic(t, topic, conns)
	base, peak := rssAnon(t, target.PIDs()), watchMemory(target)
	defer peak.end()
	fmt.Printf("\n| half messages | when | RssAnon MiB | growth MiB | B each | %% of a core |\n|---|---|---|---|---|---|\n")
	line := func(when string) { printOpen(t, target, total, base, when) }
	requests := make([]prepared, conns)
	for i := range requests {
		requests[i] = prepareHalf(topic, i)
	}
	start := time.Now()
	if refused, err := pipeline(target.BrokerAddr, requests, depth, total/conns); err != nil || refused > 0 {
		t.Fatalf("%d refused, %v", refused, err)
	}
	line(fmt.Sprintf("stored, %.0f/s", float64(total)/time.Since(start).Seconds()))
	if open := int(metric(t, target, "wheelmq_transaction_open")); open != total {
		t.Fatalf("%d transactions are open, want %d", open, total)
	}
	const timeout = 7 * time.Second // the first check's, and some
	time.Sleep(timeout)
	line("due, no producer")
	asked := askAll(t, target, total)
	line(fmt.Sprintf("asked, %.0f/s", float64(total)/asked.Seconds()))
	fmt.Printf("peak RssAnon %.1f MiB\n", mib(peak.max.Load()))

	target.Kill()
	begun := time.Now()
	target.Launch()
	ready := time.Since(begun)
	if open := int(metric(t, target, "wheelmq_transaction_open")); open != total {
		t.Fatalf("%d transactions are open after a kill, want %d", open, total)
	}
	line(fmt.Sprintf("killed and ready in %d ms", ready.Milliseconds()))
}

// printOpen prints a row of the table.
func printOpen(t *testing.T, target *peer.Target, total int, base int64, when string) {
	t.Helper()
	share, rss := idleShare(t, target), rssAnon(t, target.PIDs())
	fmt.Printf("| %d | %s | %.1f | %.1f | %.1f | %.1f |\n", total, when, mib(rss), mib(rss-base), float64(rss-base)/float64(total), share)
}

// askAll has a producer asked about all half messages once, and returns how long that took.
func askAll(t *testing.T, target *peer.Target, total int) time.Duration {
	t.Helper()
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	start, checks := time.Now(), metric(t, target, "wheelmq_transaction_checks_total")
	c.HeartbeatProducer(t, "127.0.0.1@bench", transactionGroup)
	for beat := 0; metric(t, target, "wheelmq_transaction_checks_total") < checks+float64(total); beat++ {
		if time.Since(start) > openLimit {
			t.Fatalf("not all half messages were asked about in %v", openLimit)
		}
		time.Sleep(100 * time.Millisecond)
		const beats = 100
		if beat%beats == beats-1 {
			c.HeartbeatProducer(t, "127.0.0.1@bench", transactionGroup)
		}
	}
	return time.Since(start)
}
