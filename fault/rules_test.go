package fault_test

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/fault"
	"github.com/wheelmq/wheelmq/remoting"
)

func quiet() logrus.FieldLogger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

// rig is a router under rules that answers sends and pulls, and defers the answer of a pull.
type rig struct {
	t       *testing.T
	wire    *clock.Virtual
	rules   *fault.Rules
	router  *remoting.Router
	conn    wire
	pending *remoting.Pending
	served  atomic.Int64 // requests that were executed
	code    int32        // what sends are answered with
}

// wire is a connection that hands on what is sent.
type wire struct {
	mu     sync.Mutex // guards closed
	closed string
	frames chan []byte
}

func (*wire) ID() uint64                 { return 1 }
func (*wire) RemoteAddr() netip.AddrPort { return netip.AddrPort{} }
func (*wire) LocalAddr() netip.AddrPort  { return netip.AddrPort{} }
func (c *wire) Closed() bool             { return c.reason() != "" }

func (c *wire) reason() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

func (c *wire) Close(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = reason
}

func (c *wire) Send(frame []byte) error {
	c.frames <- frame
	return nil
}

func (c *wire) SendParts(head []byte, _ [][]byte, _ func()) error { return c.Send(head) }

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, wire: clock.NewVirtual(1_000_000), conn: wire{frames: make(chan []byte, 100)}}
	r.rules = fault.New(fault.Options{Wire: r.wire, Log: quiet()})
	t.Cleanup(func() { _ = r.rules.Close() })
	send := func(ex *remoting.Exchange) error {
		r.served.Add(1)
		ex.Reply.Code = r.code
		return nil
	}
	r.router = remoting.NewRouter([]remoting.Route{
		{Code: remoting.SendMessage, Handler: send}, {Code: remoting.SendMessageV2, Handler: send}, {Code: remoting.SendBatchMessage, Handler: send},
		{Code: remoting.HeartBeat, Handler: send},
		{Code: remoting.PullMessage, Handler: func(ex *remoting.Exchange) error {
			r.served.Add(1)
			r.pending = ex.Defer()
			return nil
		}},
	}, remoting.RouterOptions{Before: []remoting.Around{r.rules.Before}, Log: quiet()})
	return r
}

func (r *rig) add(rule fault.Rule) *fault.Fault {
	r.t.Helper()
	f, err := r.rules.Add(rule)
	if err != nil {
		r.t.Fatal(err)
	}
	return f
}

// serve is one request; the answer is in the exchange unless it is Deferred.
func (r *rig) serve(code int32, topic, group string) *remoting.Exchange {
	ex := new(remoting.Exchange)
	ex.Begin(&r.conn)
	ex.Req.Code, ex.Req.Opaque = code, 7
	switch code {
	case remoting.SendMessageV2, remoting.SendBatchMessage:
		ex.Req.Ext.Set("a", group)
		ex.Req.Ext.Set("b", topic)
	case remoting.HeartBeat:
	default:
		ex.Req.Ext.Set("consumerGroup", group)
		ex.Req.Ext.Set("topic", topic)
		ex.Req.Ext.Set("queueOffset", "41")
	}
	r.router.Serve(ex)
	return ex
}

func (r *rig) frame() *remoting.Command {
	r.t.Helper()
	select {
	case frame := <-r.conn.frames:
		cmd := new(remoting.Command)
		if err := remoting.Decode(frame, cmd); err != nil {
			r.t.Fatal(err)
		}
		return cmd
	case <-time.After(10 * time.Second):
		r.t.Fatal("no answer")
		return nil
	}
}

func (r *rig) noFrame() {
	r.t.Helper()
	select {
	case frame := <-r.conn.frames:
		r.t.Fatalf("an answer: %q", frame)
	default:
	}
}

func TestRespond(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	f := r.add(fault.Rule{Code: remoting.SendMessageV2, Topic: "orders", Respond: remoting.SystemBusy, Skip: 1, Count: 2})
	codes := []int32{}
	for range 4 {
		ex := r.serve(remoting.SendMessageV2, "orders", "p")
		codes = append(codes, ex.Reply.Code)
		if ex.Reply.Code != 0 && ex.Reply.Remark != "SYSTEM_BUSY by fault rule f1" {
			t.Errorf("remark %q", ex.Reply.Remark)
		}
		r.serve(remoting.SendMessageV2, "other", "p")
		r.serve(remoting.HeartBeat, "", "")
	}
	if want := []int32{0, 2, 2, 0}; [4]int32(codes) != [4]int32(want) || !f.Spent() || f.Hits() != 2 || r.served.Load() != 10 {
		t.Fatalf("codes %v, %d hits, %d executed", codes, f.Hits(), r.served.Load())
	}
}

// Rules for a send bite on whatever code the client chose for it.
func TestRule_CodesOfOneCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule int32
		want [4]bool // 10, 310, 320, 11
	}{
		{remoting.SendMessage, [4]bool{true, true, true, false}},
		{remoting.SendMessageV2, [4]bool{true, true, true, false}},
		{remoting.SendBatchMessage, [4]bool{false, false, true, false}},
		{remoting.PullMessage, [4]bool{false, false, false, true}},
		{0, [4]bool{true, true, true, true}},
	} {
		r := newRig(t)
		r.add(fault.Rule{Code: c.rule, Group: "g", Respond: remoting.SystemBusy})
		for i, code := range []int32{remoting.SendMessage, remoting.SendMessageV2, remoting.SendBatchMessage, remoting.PullMessage} {
			if ex := r.serve(code, "T", "g"); (ex.Reply.Code == remoting.SystemBusy) != c.want[i] {
				t.Errorf("rule %d on request %d answers %d", c.rule, code, ex.Reply.Code)
			}
			if ex := r.serve(code, "T", "other"); ex.Reply.Code != 0 {
				t.Errorf("rule %d on request %d of another group answers %d", c.rule, code, ex.Reply.Code)
			}
		}
	}
}

// What tells a producer that its message is stored is told after it is.
func TestRespond_Stored(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	f := r.add(fault.Rule{Respond: remoting.FlushDiskTimeout, Count: 1})
	if ex := r.serve(remoting.SendMessageV2, "T", "p"); ex.Reply.Code != remoting.FlushDiskTimeout || r.served.Load() != 1 || f.Hits() != 1 {
		t.Fatalf("answered %d, executed %d", ex.Reply.Code, r.served.Load())
	}
}

// A pull that is told to go on reads where.
func TestRespond_PullHasItsHeader(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add(fault.Rule{Code: remoting.PullMessage, Respond: remoting.PullNotFound})
	ex := r.serve(remoting.PullMessage, "T", "g")
	var cmd remoting.Command
	if err := remoting.Decode(remoting.AppendReplyHead(nil, 7, &ex.Reply), &cmd); err != nil {
		t.Fatal(err)
	}
	var header remoting.PullMessageResponse
	if err := header.Decode(&cmd.Ext); err != nil || header.NextBeginOffset != 41 || cmd.Code != remoting.PullNotFound {
		t.Fatalf("code %d, %+v, %v", cmd.Code, header, err)
	}
}

func TestCloseConn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	f := r.add(fault.Rule{CloseConn: true})
	if ex := r.serve(remoting.SendMessageV2, "T", "p"); !ex.Deferred() || r.conn.reason() != "closed by rule f1" || r.served.Load() != 0 || f.Hits() != 1 {
		t.Fatalf("%q, executed %d", r.conn.reason(), r.served.Load())
	}
}

// Drops and delays are of answers: a pull that was held before the rule was there is met.
func TestAnswers_OfHeldPull(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.serve(remoting.PullMessage, "T", "g")
	f := r.add(fault.Rule{Code: remoting.PullMessage, DropReply: true, Count: 1})
	r.pending.Send()
	r.noFrame()
	if err := f.Wait(t.Context(), 1); err != nil || !f.Spent() {
		t.Fatal(err)
	}
	r.serve(remoting.PullMessage, "T", "g")
	r.pending.Send()
	r.frame()
	r.serve(remoting.PullMessage, "T", "g")
	f = r.add(fault.Rule{Topic: "T", Delay: time.Minute})
	r.pending.Send()
	if err := f.Wait(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	r.noFrame()
	r.wire.Set(1_060_010)
	if cmd := r.frame(); cmd.Opaque != 7 {
		t.Fatalf("opaque %d", cmd.Opaque)
	}
}

// A held answer leaves in its time though the rule is removed, and never once the rules are closed.
func TestDelay_RemoveAndClose(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	f := r.add(fault.Rule{Delay: time.Second})
	if ex := r.serve(remoting.SendMessageV2, "T", "p"); !ex.Deferred() || r.served.Load() != 1 {
		t.Fatal("not held back")
	}
	f.Remove()
	if ex := r.serve(remoting.SendMessageV2, "T", "p"); ex.Deferred() {
		t.Fatal("a removed rule applies")
	}
	r.wire.Set(1_002_000)
	r.frame()
	r.add(fault.Rule{Delay: time.Hour})
	r.serve(remoting.SendMessageV2, "T", "p")
	if err := r.rules.Close(); err != nil {
		t.Fatal(err)
	}
	r.serve(remoting.SendMessageV2, "T", "p")
	r.wire.Set(1 << 40)
	r.noFrame()
}

// A busy answer may be late too.
func TestRules_OfRequestAndAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	busy, slow := r.add(fault.Rule{Respond: remoting.SystemBusy}), r.add(fault.Rule{Delay: time.Second})
	r.serve(remoting.SendMessageV2, "T", "p")
	if err := errors.Join(busy.Wait(t.Context(), 1), slow.Wait(t.Context(), 1)); err != nil {
		t.Fatal(err)
	}
	r.wire.Set(1_002_000)
	if cmd := r.frame(); cmd.Code != remoting.SystemBusy {
		t.Fatalf("code %d", cmd.Code)
	}
}

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
