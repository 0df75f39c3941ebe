package main

import (
	"runtime"
	"testing"
)

// With no P to spare, a delayed message is up to 10 ms late while the loops wait.
func TestEventLoops_LeavesPsForTimers(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	t.Setenv("GOMAXPROCS", "")
	if loops := eventLoops(); loops != before || runtime.GOMAXPROCS(0) != before+spareProcs {
		t.Errorf("%d loops on %d Ps, want %d on %d", loops, runtime.GOMAXPROCS(0), before, before+spareProcs)
	}
	t.Setenv("GOMAXPROCS", "7")
	runtime.GOMAXPROCS(7)
	if loops := eventLoops(); loops != 7 || runtime.GOMAXPROCS(0) != 7 {
		t.Errorf("GOMAXPROCS=7: %d loops on %d Ps", loops, runtime.GOMAXPROCS(0))
	}
}
