package faults

import (
	"strings"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/wheelmqtest"
)

// A full disk refuses producers from the next send on; consumers go on; with space everything
// does, at once.
func TestDiskFull(t *testing.T) {
	mq := start(t)
	p := newProducer(t, mq, 0, patient)
	mustSend(t, p, "a")
	f := mq.Fault(wheelmqtest.Rule{DiskFull: true})
	refused(t, p, "CODE: 14", "service not available now", "no space left on the device", "fault rule f1")
	f.Wait(1, limit)
	wantHealth(t, mq, "store", health.Down, "sends are refused", "no space left on the device", "fault rule f1")
	wantExchange(t, mq, "SEND_MESSAGE", "SERVICE_NOT_AVAILABLE", f)
	if msg := newConsumer(t, mq, nil).next(t); string(msg.Body) != "a" {
		t.Errorf("%s", msg.Body)
	}
	f.Remove()
	mustSend(t, p, "b")
	wantBodies(t, mq, "a b")
	wantHealth(t, mq, "store", health.Up)
}

// What was accepted before the disk was full comes due all the same.
func TestDiskFull_DueMessagesGoOn(t *testing.T) {
	mq := start(t)
	mq.Produce(wheelmqtest.ToProduce{Topic: topic, DelayLevel: 1, Body: []byte("due")})
	f := mq.Fault(wheelmqtest.Rule{DiskFull: true})
	mq.WaitMessages(topic, 1, limit)
	f.Remove()
	mq.Produce(wheelmqtest.ToProduce{Topic: topic, DelayLevel: 1, Body: []byte("due")})
	mq.Fault(wheelmqtest.Rule{DiskFull: true})
	mq.Restart()
	mq.WaitMessages(topic, 2, limit)
}

// A full disk is full after a restart, too: the rules outlive it.
func TestDiskFull_Restart(t *testing.T) {
	mq := start(t)
	f := mq.Fault(wheelmqtest.Rule{DiskFull: true})
	mq.Restart()
	p := newProducer(t, mq, 0, patient)
	refused(t, p, "CODE: 14", "fault rule f1")
	f.Remove()
	mustSend(t, p, "a")
}

// Under SYNC_FLUSH the send whose sync fails is refused, and everything after it until the
// server is started again. What was acknowledged is there then.
func TestFsyncFails_SyncFlush(t *testing.T) {
	mq := start(t, wheelmqtest.SyncFlush())
	p := newProducer(t, mq, 0, patient)
	mustSend(t, p, "a")
	f := mq.Fault(wheelmqtest.Rule{FsyncFails: true})
	refused(t, p, "CODE: 14", "input/output error (fault rule f1)")
	f.Wait(1, limit)
	f.Remove()
	broken(t, mq)
	healed(t, mq)
	if mq.Messages(topic)[0].MsgID == "" {
		t.Error("what was acknowledged is not there")
	}
}

// Under ASYNC_FLUSH sends are accepted until the next flush has failed.
func TestFsyncFails_AsyncFlush(t *testing.T) {
	mq := start(t)
	p := newProducer(t, mq, 0, patient)
	f := mq.Fault(wheelmqtest.Rule{FsyncFails: true})
	mustSend(t, p, "a")
	f.Wait(1, limit)
	refused(t, p, "CODE: 14", "input/output error (fault rule f1)")
	f.Remove()
	broken(t, mq)
	healed(t, mq)
	wantBodies(t, mq, "a after") // the machine did not go down
}

// broken checks a server whose store has broken down, though its disk is well again.
func broken(t *testing.T, mq *wheelmqtest.Broker) {
	t.Helper()
	p := newProducer(t, mq, 0, patient)
	refused(t, p, "CODE: 14", "not writable since a flush failed")
	wantHealth(t, mq, "store", health.Down, "not writable since a flush failed", "fault rule f1")
}

// healed restarts such a server.
func healed(t *testing.T, mq *wheelmqtest.Broker) {
	t.Helper()
	mq.Restart()
	wantHealth(t, mq, "store", health.Up)
	mustSend(t, newProducer(t, mq, 0, patient), "after")
}

// A client that has no route yet finds none; one that has goes on.
func TestBrokerMissing(t *testing.T) {
	mq := start(t)
	old := newProducer(t, mq, 0, patient)
	mustSend(t, old, "a")
	f := mq.Fault(wheelmqtest.Rule{BrokerMissing: true})
	refused(t, newProducer(t, mq, 0, patient), "route info not found")
	f.Wait(1, limit)
	mustSend(t, old, "b")
	f.Remove()
	mustSend(t, newProducer(t, mq, 0, patient), "c")
	wantBodies(t, mq, "a b c")
}

func TestBrokerMissing_ForATopic(t *testing.T) {
	mq := start(t, wheelmqtest.Topic("another", 1))
	f := mq.Fault(wheelmqtest.Rule{BrokerMissing: true, Topic: "another", Count: 2})
	p := newProducer(t, mq, 0, patient)
	mustSend(t, p, "a")
	if f.Hits() != 0 {
		t.Errorf("%d hits", f.Hits())
	}
	f.Remove()
	if _, err := p.SendSync(t.Context(), primitive.NewMessage("another", []byte("b"))); err != nil {
		t.Fatal(err)
	}
}

// A stalled scheduler keeps what is due, says so, and delivers it when it goes on.
func TestSchedulerStalled(t *testing.T) {
	mq := start(t)
	p := newProducer(t, mq, 0, patient)
	got := newConsumer(t, mq, nil)
	f := mq.Fault(wheelmqtest.Rule{SchedulerStalled: true})
	late := primitive.NewMessage(topic, []byte("late"))
	late.WithDelayTimeLevel(1)
	if _, err := p.SendSync(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	mustSend(t, p, "at once")
	f.Wait(1, limit)
	if msg := got.next(t); string(msg.Body) != "at once" {
		t.Fatalf("%s", msg.Body)
	}
	wantHealth(t, mq, "schedule", health.Down, "due messages are withheld by fault rule f1")
	wantBodies(t, mq, "at once")
	f.Remove()
	if msg := got.next(t); string(msg.Body) != "late" {
		t.Fatalf("%s", msg.Body)
	}
	wantBodies(t, mq, "at once late")
	wantHealth(t, mq, "schedule", health.Up)
}

// A server does not start while syncs fail, says why, and starts when they do not.
func TestFsyncFails_NoStart(t *testing.T) {
	mq := start(t)
	f := mq.Fault(wheelmqtest.Rule{FsyncFails: true})
	if err := mq.Control().Restart(t.Context()); err == nil || !strings.Contains(err.Error(), "input/output error (fault rule f1)") {
		t.Fatalf("restart: %v", err)
	}
	wantHealth(t, mq, "server", health.Down, "input/output error (fault rule f1)")
	f.Remove()
	mq.Restart()
	mustSend(t, newProducer(t, mq, 0, patient), "a")
}

// Virtual time passes a stalled scheduler by; what became due is delivered when it goes on.
func TestSchedulerStalled_VirtualClock(t *testing.T) {
	mq := start(t, wheelmqtest.VirtualClock())
	f := mq.Fault(wheelmqtest.Rule{SchedulerStalled: true})
	mq.Produce(wheelmqtest.ToProduce{Topic: topic, DelayLevel: 3, Body: []byte("ten")})
	mq.Produce(wheelmqtest.ToProduce{Topic: topic, DelayLevel: 4, Body: []byte("thirty")})
	mq.Advance(time.Minute)
	f.Wait(1, limit)
	wantBodies(t, mq, "")
	f.Remove()
	mq.WaitMessages(topic, 2, limit)
	wantBodies(t, mq, "ten thirty")
}
