package fault_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/fault"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestDiskFull_CountsRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	f := r.add(fault.Rule{DiskFull: true})
	if err := r.rules.NoSpace(); err == nil || !strings.Contains(err.Error(), "f1") {
		t.Fatal(err)
	}
	r.serve(remoting.SendMessageV2, "T", "p")
	r.code = remoting.ServiceNotAvailable
	r.serve(remoting.SendMessageV2, "T", "p")
	if f.Hits() != 1 {
		t.Fatalf("%d hits", f.Hits())
	}
	f.Remove()
	r.serve(remoting.SendMessageV2, "T", "p")
	if r.rules.NoSpace() != nil || f.Hits() != 1 {
		t.Fatalf("%d hits", f.Hits())
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if r.rules.NoSync() != nil || r.rules.BrokerMissing("") || r.rules.Stalled() != "" {
		t.Fatal("a fault without a rule")
	}
	sync := r.add(fault.Rule{FsyncFails: true})
	err := r.rules.NoSync()
	r.rules.Broken()
	if err == nil || !strings.Contains(err.Error(), "fault rule f1") || sync.Hits() != 1 {
		t.Errorf("%v, %d hits", err, sync.Hits())
	}
	missing := r.add(fault.Rule{BrokerMissing: true, Topic: "T"})
	if r.rules.BrokerMissing("") || r.rules.BrokerMissing("U") || !r.rules.BrokerMissing("T") || missing.Hits() != 1 {
		t.Errorf("%d hits", missing.Hits())
	}
	stall := r.add(fault.Rule{SchedulerStalled: true})
	r.rules.Withheld()
	if r.rules.Stalled() != "by fault rule f3" || stall.Hits() != 1 {
		t.Errorf("%q, %d hits", r.rules.Stalled(), stall.Hits())
	}
	r.rules.Clear()
	if len(r.rules.Faults()) != 0 || r.rules.Stalled() != "" {
		t.Error("not cleared")
	}
}

func TestRules_IDs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add(fault.Rule{ID: "f2", DropReply: true})
	if a, b := r.add(fault.Rule{DropReply: true}), r.add(fault.Rule{DropReply: true}); a.ID() != "f1" || b.ID() != "f3" || b.Rule().ID != "f3" {
		t.Errorf("%s, %s", a.ID(), b.ID())
	}
	if _, err := r.rules.Add(fault.Rule{ID: "f2", DropReply: true}); !errors.Is(err, fault.ErrInvalid) {
		t.Error(err)
	}
	if _, err := r.rules.Add(fault.Rule{}); !errors.Is(err, fault.ErrInvalid) {
		t.Error(err)
	}
	r.rules.Fault("f2").Remove()
	r.rules.Faults()[0].Remove()
	if r.rules.Fault("f2") != nil || r.rules.Fault("f1") != nil || len(r.rules.Faults()) != 1 {
		t.Error("not removed")
	}
}

// Whoever keeps a state of his own for a rule has heard of it when Add and Remove return.
func TestRules_Watch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var seen []bool
	stop := r.rules.Watch(func() { seen = append(seen, r.rules.NoSpace() != nil) })
	f := r.add(fault.Rule{DiskFull: true})
	f.Remove()
	f.Remove()
	stop()
	r.add(fault.Rule{DiskFull: true})
	if len(seen) != 2 || !seen[0] || seen[1] {
		t.Fatalf("%v", seen)
	}
}

func TestFault_WaitFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	f := r.add(fault.Rule{DropReply: true, Count: 2})
	if err := f.Wait(t.Context(), 3); err == nil || !strings.Contains(err.Error(), "applies 2 times, not 3") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Wait(ctx, 1); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "f1 applied 0 times of 1") {
		t.Error(err)
	}
	done := make(chan error)
	go func() { done <- f.Wait(t.Context(), 1) }()
	f.Remove()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "f1 is removed") {
		t.Error(err)
	}
}

// Under concurrent requests the rule applies exactly Count times after Skip, each Wait returns
// with no fewer hits than it asked for, and nothing after Remove is met.
func TestFault_Concurrency(t *testing.T) {
	t.Parallel()
	const senders, each, skip, count = 8, 200, 100, 700
	r := newRig(t)
	f := r.add(fault.Rule{Code: remoting.SendMessageV2, Respond: remoting.SystemBusy, Skip: skip, Count: count})
	var busy atomic.Int64
	var all sync.WaitGroup
	for range senders {
		all.Go(func() {
			for range each {
				if r.serve(remoting.SendMessageV2, "T", "p").Reply.Code == remoting.SystemBusy {
					busy.Add(1)
				}
			}
		})
	}
	for n := int64(1); n <= count; n += 7 {
		all.Go(func() {
			if err := f.Wait(t.Context(), n); err != nil || f.Hits() < n {
				t.Errorf("%d hits of %d, %v", f.Hits(), n, err)
			}
		})
	}
	all.Wait()
	if busy.Load() != count || f.Hits() != count || !f.Spent() || r.served.Load() != senders*each-count {
		t.Fatalf("%d busy, %d hits, %d served", busy.Load(), f.Hits(), r.served.Load())
	}
}

func TestFault_RemoveUnderConcurrency(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	f := r.add(fault.Rule{Respond: remoting.SystemBusy})
	stop := make(chan struct{})
	var removed atomic.Bool
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				before := removed.Load()
				if r.serve(remoting.SendMessageV2, "T", "p").Reply.Code == remoting.SystemBusy && before {
					t.Error("a removed rule applied")
				}
			}
		})
	}
	if err := f.Wait(t.Context(), 500); err != nil {
		t.Error(err)
	}
	f.Remove()
	removed.Store(true)
	hits := f.Hits()
	for range 200 {
		r.serve(remoting.SendMessageV2, "T", "p")
	}
	close(stop)
	all.Wait()
	if f.Hits() != hits {
		t.Errorf("%d hits became %d", hits, f.Hits())
	}
}
