package faults

import (
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/wheelmqtest"
)

// The Go client gives SYSTEM_BUSY to the application, unlike Java's, which sends again. It sends
// with code 10, which a rule for SEND_MESSAGE_V2 is about all the same.
func TestRespond_Busy_IsTheApplicationsAffair(t *testing.T) {
	mq := start(t)
	p := newProducer(t, mq, 2, patient)
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Topic: topic, Respond: wheelmqtest.SystemBusy, Count: 2})
	refused(t, p, "CODE: 2", "SYSTEM_BUSY by fault rule f1")
	refused(t, p, "CODE: 2")
	mustSend(t, p, "a")
	wantBodies(t, mq, "a")
	wantExchange(t, mq, "SEND_MESSAGE", "SYSTEM_BUSY", f)
	if f.Hits() != 2 {
		t.Errorf("%d hits", f.Hits())
	}
}

func TestRespond_NotAvailable_IsSentAgain(t *testing.T) {
	mq := start(t)
	p := newProducer(t, mq, 2, patient)
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Respond: wheelmqtest.ServiceNotAvailable, Remark: "gone fishing", Count: 2})
	mustSend(t, p, "a")
	wantBodies(t, mq, "a")
	if f.Hits() != 2 {
		t.Errorf("%d hits", f.Hits())
	}
	mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Respond: wheelmqtest.ServiceNotAvailable, Remark: "gone fishing", Count: 3})
	refused(t, p, "CODE: 14", "gone fishing")
	mustSend(t, p, "b")
	wantBodies(t, mq, "a b")
}

// Batches are sends too.
func TestRespond_Batch(t *testing.T) {
	mq := start(t)
	p := newProducer(t, mq, 0, patient)
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Topic: topic, Respond: wheelmqtest.SystemError, Count: 1})
	if res, err := send(t, p, "a", "b"); err == nil {
		t.Fatalf("%+v", res)
	}
	wantExchange(t, mq, "SEND_BATCH_MESSAGE", "SYSTEM_ERROR", f)
	if _, err := send(t, p, "a", "b"); err != nil {
		t.Fatal(err)
	}
	wantBodies(t, mq, "a b")
}

// An answer that tells that a message is stored is true.
func TestRespond_FlushDiskTimeout_IsStored(t *testing.T) {
	mq := start(t)
	p := newProducer(t, mq, 2, patient)
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessage, Respond: wheelmqtest.FlushDiskTimeout, Count: 1})
	res, err := send(t, p, "a")
	if err != nil || res.Status != primitive.SendFlushDiskTimeout || res.MsgID != mq.Messages(topic)[0].MsgID {
		t.Fatalf("%+v, %v", res, err)
	}
	wantBodies(t, mq, "a")
	wantExchange(t, mq, "SEND_MESSAGE", "FLUSH_DISK_TIMEOUT", f)
}

// Other topics and groups are not met.
func TestRespond_NarrowedByGroup(t *testing.T) {
	mq := start(t)
	p := newProducer(t, mq, 0, patient)
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Group: "another", Respond: wheelmqtest.SystemError})
	mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Topic: "another", Respond: wheelmqtest.SystemError})
	mustSend(t, p, "a")
	mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Group: "shop", Respond: wheelmqtest.SystemError})
	refused(t, p, "CODE: 1")
	if f.Hits() != 0 {
		t.Errorf("%d hits", f.Hits())
	}
}

// A consumer whose pulls are refused asks again and gets its messages.
func TestRespond_OnPull(t *testing.T) {
	mq := start(t)
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.PullMessage, Topic: topic, Group: group, Respond: wheelmqtest.SystemBusy, Count: 2})
	mq.Produce(wheelmqtest.ToProduce{Topic: topic, Body: []byte("a")})
	got := newConsumer(t, mq, nil)
	f.Wait(1, limit)
	if msg := got.next(t); string(msg.Body) != "a" || f.Hits() != 2 {
		t.Fatalf("%s after %d refusals", msg.Body, f.Hits())
	}
	wantExchange(t, mq, "PULL_MESSAGE", "SYSTEM_BUSY", f)
}

// A consumer that cannot send a message back puts it into the retry topic itself.
func TestRespond_OnSendBack(t *testing.T) {
	mq := start(t)
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.ConsumerSendMsgBack, Group: group, Respond: wheelmqtest.SystemError, Count: 1})
	mq.Produce(wheelmqtest.ToProduce{Topic: topic, Body: []byte("a")})
	tries := 0
	got := newConsumer(t, mq, func(*primitive.MessageExt) consumer.ConsumeResult {
		if tries++; tries == 1 {
			return consumer.ConsumeRetryLater
		}
		return consumer.ConsumeSuccess
	})
	first, second := got.next(t), got.next(t)
	if first.MsgId != second.MsgId || second.ReconsumeTimes != 1 || f.Hits() != 1 || len(mq.Messages("%RETRY%"+group)) != 1 {
		t.Fatalf("%s, then %s, %d hits", first, second, f.Hits())
	}
	wantExchange(t, mq, "CONSUMER_SEND_MSG_BACK", "SYSTEM_ERROR", f)
}

func TestDelay_WithinTheTimeout(t *testing.T) {
	mq := start(t)
	p := newProducer(t, mq, 0, patient)
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Delay: 200 * time.Millisecond, Count: 1})
	answer := make(chan error, 1)
	go func() {
		_, err := send(t, p, "slow")
		answer <- err
	}()
	f.Wait(1, limit)
	wantBodies(t, mq, "slow") // before it is answered
	if err := <-answer; err != nil {
		t.Fatal(err)
	}
	wantExchange(t, mq, "SEND_MESSAGE", "SUCCESS", f)
}

// A client that gives up has stored its message nevertheless.
func TestDelay_BeyondTheTimeout(t *testing.T) {
	mq := start(t)
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Delay: limit})
	refused(t, newProducer(t, mq, 0, 3*time.Second), "timeout")
	f.Wait(1, limit)
	mq.WaitMessages(topic, 1, limit)
	wantBodies(t, mq, "refused")
	f.Remove()
	mustSend(t, newProducer(t, mq, 0, patient), "b")
	wantBodies(t, mq, "refused b")
}

// A pull that is already held is answered late.
func TestDelay_OfHeldPull(t *testing.T) {
	mq := start(t)
	got := newConsumer(t, mq, nil)
	eventually(t, "a pull is held", func() bool { return held(mq) })
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.PullMessage, Topic: topic, Delay: 200 * time.Millisecond, Count: 1})
	mq.Produce(wheelmqtest.ToProduce{Topic: topic, Body: []byte("a")})
	f.Wait(1, limit)
	if msg := got.next(t); string(msg.Body) != "a" {
		t.Fatalf("%s", msg.Body)
	}
}

// held tells whether a pull of the topic waits for messages.
func held(mq *wheelmqtest.Broker) bool {
	list := mq.Exchanges()
	for i := range list {
		if x := &list[i]; x.Name == "PULL_MESSAGE" && x.Topic == topic && x.Result == "held" {
			return true
		}
	}
	return false
}

// The message is there twice, with one id: what a consumer must be ready for.
func TestDropReply_MakesADuplicate(t *testing.T) {
	duplicated(t, start(t))
}

// So it is where the answer waits for the disk.
func TestDropReply_SyncFlush(t *testing.T) {
	duplicated(t, start(t, wheelmqtest.SyncFlush()))
}

func duplicated(t *testing.T, mq *wheelmqtest.Broker) {
	t.Helper()
	p := newProducer(t, mq, 1, impatient)
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Topic: topic, DropReply: true, Count: 1})
	res := mustSend(t, p, "a")
	list := mq.Messages(topic)
	if len(list) != 2 || list[0].MsgID != res.MsgID || list[1].MsgID != res.MsgID || list[0].OffsetMsgID == list[1].OffsetMsgID {
		t.Fatalf("sent %s, stored %+v", res.MsgID, list)
	}
	if res.OffsetMsgID != list[1].OffsetMsgID {
		t.Errorf("the answer is of %s, want the second, %s", res.OffsetMsgID, list[1].OffsetMsgID)
	}
	wantExchange(t, mq, "SEND_MESSAGE", "dropped", f)
	got := newConsumer(t, mq, nil)
	if first, second := got.next(t), got.next(t); first.MsgId != second.MsgId {
		t.Errorf("consumed %s and %s", first.MsgId, second.MsgId)
	}
}

// A consumer whose answer is lost asks again from where it was, after its own timeout of 30 s.
func TestDropReply_OfHeldPull(t *testing.T) {
	mq := start(t)
	got := newConsumer(t, mq, nil)
	eventually(t, "a pull is held", func() bool { return held(mq) })
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.PullMessage, Topic: topic, DropReply: true, Count: 1})
	mq.Produce(wheelmqtest.ToProduce{Topic: topic, Body: []byte("a")})
	f.Wait(1, limit)
	wantExchange(t, mq, "PULL_MESSAGE", "dropped", f)
	if msg := got.next(t); string(msg.Body) != "a" || len(got) != 0 {
		t.Fatalf("%s", msg.Body)
	}
}

func TestCloseConn(t *testing.T) {
	mq := start(t)
	p := newProducer(t, mq, 1, impatient)
	mustSend(t, p, "a")
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, CloseConn: true, Count: 1})
	mustSend(t, p, "b")
	wantBodies(t, mq, "a b") // the first try was not executed
	if f.Hits() != 1 {
		t.Errorf("%d hits", f.Hits())
	}
	wantExchange(t, mq, "SEND_MESSAGE", "closed", f)
}

// Every action is one of requests that want no answer, too: the rule is hit, and nobody notices.
func TestRespond_Oneway(t *testing.T) {
	mq := start(t)
	p := newProducer(t, mq, 0, patient)
	f := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Respond: wheelmqtest.SystemBusy, Count: 1})
	for _, body := range []string{"lost", "stored"} {
		if err := p.SendOneWay(t.Context(), primitive.NewMessage(topic, []byte(body))); err != nil {
			t.Fatal(err)
		}
	}
	f.Wait(1, limit)
	mq.WaitMessages(topic, 1, limit)
	wantBodies(t, mq, "stored")
}
