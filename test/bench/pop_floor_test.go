package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
)

// TestPopFloor prints what one message at a time costs a server that does nothing: two requests of a pop's
// size, each sent when the one before is answered, on as many connections as TestPop has. It is what is left of that
// row for the network, and for how the server's process waits for it.
func TestPopFloor(t *testing.T) {
	requireBench(t)
	port, err := peer.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	addr := peer.Address(port)
	pid := startNull(t, addr)
	waitListening(t, addr)
	total := envInt("WHEELMQ_BENCH_POPS", 200_000)
	var all []sample
	for round := range rounds + 1 {
		warmMemory(t)
		if s := nullLone(t, addr, pid, total); round > 0 {
			all = append(all, s)
		}
	}
	floor := best(all)
	fmt.Printf("\n| one at a time, %d connections | µs for two requests | /s |\n|---|---|---|\n| null server | %s | %s |\n", conns, micros(floor), rate(floor))
}

// nullLone is a round of total messages, two requests each.
func nullLone(t *testing.T, addr string, pid, total int) sample {
	t.Helper()
	requests := make([]prepared, conns)
	for i := range requests {
		requests[i] = plain("Null", i, 128)
	}
	before, start := cpuTime(t, []int{pid}), time.Now()
	if _, err := pipeline(addr, requests, 1, 2*total/conns); err != nil {
		t.Fatal(err)
	}
	return sample{messages: total, wall: time.Since(start), cpu: cpuTime(t, []int{pid}) - before}
}
