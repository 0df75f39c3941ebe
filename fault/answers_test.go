package fault_test

import (
	"errors"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/fault"
	"github.com/wheelmq/wheelmq/remoting"
)

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
