package embed

import (
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/wheelmqtest"
)

// elapsed tells how long a recipe takes of real time.
func elapsed(t *testing.T, what string) func() {
	start := time.Now()
	return func() { t.Logf("%s took %v", what, time.Since(start).Round(time.Millisecond)) }
}

func TestTwoHourDelay(t *testing.T) {
	t.Parallel()
	mq := wheelmqtest.Start(t, wheelmqtest.VirtualClock(), wheelmqtest.Topic("orders", 2))
	p := goclient.Producer(t, mq.NameServerAddr())
	box := consume(t, mq, "cancel", "orders", goclient.Succeeds)
	send(t, p, primitive.NewMessage("orders", []byte("unpaid")).WithDelayTimeLevel(18))
	done := elapsed(t, "from the send to the message of two hours later")
	mq.Advance(2*time.Hour - time.Millisecond)
	if n := box.len(); n != 0 {
		t.Errorf("%d messages came a millisecond early", n)
	}
	mq.Advance(time.Millisecond)
	box.await(t, 1)
	done()
}

func TestSixteenRetriesToTheDLQ(t *testing.T) {
	t.Parallel()
	mq := wheelmqtest.Start(t, wheelmqtest.VirtualClock(), wheelmqtest.Topic("orders", 1))
	p := goclient.Producer(t, mq.NameServerAddr())
	box := consume(t, mq, "billing", "orders", goclient.Fails)
	done := elapsed(t, "sixteen retries")
	sent := send(t, p, primitive.NewMessage("orders", []byte("poison")))
	moved := mq.AdvanceUntil(func() bool { return len(mq.DLQ("billing")) == 1 }, 5*time.Hour)
	done()
	if dead := mq.DLQ("billing")[0]; dead.MsgID != sent.MsgID || string(dead.Body) != "poison" {
		t.Errorf("dead letter %+v", dead)
	}
	attempts := box.all()
	if len(attempts) != 17 {
		t.Errorf("%d attempts, want 1 and 16 retries", len(attempts))
	}
	for i, m := range attempts {
		if m.ReconsumeTimes != int32(i) {
			t.Errorf("attempt %d: reconsumeTimes %d", i, m.ReconsumeTimes)
		}
	}
	// Levels 3 to 18: 10 s, 30 s, 1 to 10 min, 20 and 30 min, 1 and 2 h.
	took := time.Duration(moved.NowMs-moved.FromMs) * time.Millisecond
	if want := 4*time.Hour + 45*time.Minute + 40*time.Second; took < want-time.Second || took > want+time.Second {
		t.Errorf("the clock went on by %v, want %v", took, want)
	}
}

func TestAutoSkip_RetriesByThemselves(t *testing.T) {
	t.Parallel()
	mq := wheelmqtest.Start(t, wheelmqtest.VirtualClock(), wheelmqtest.Topic("orders", 1))
	mq.AutoSkip()
	p := goclient.Producer(t, mq.NameServerAddr())
	box := consume(t, mq, "billing", "orders", func(m *primitive.MessageExt) consumer.ConsumeResult {
		if m.ReconsumeTimes < 5 {
			return consumer.ConsumeRetryLater
		}
		return consumer.ConsumeSuccess
	})
	send(t, p, primitive.NewMessage("orders", []byte("x")))
	box.await(t, 6)
	mq.WaitConsumed("billing", 1, limit)
}

func TestDuplicate(t *testing.T) {
	t.Parallel()
	mq := wheelmqtest.Start(t, wheelmqtest.Topic("orders", 1))
	p := goclient.Producer(t, mq.NameServerAddr(), producer.WithSendMsgTimeout(time.Second), producer.WithRetry(30))
	fault := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Topic: "orders", DropReply: true, Count: 1})
	sent := send(t, p, primitive.NewMessage("orders", []byte("once")))
	fault.Wait(1, limit)
	// A machine that stalls makes the client send more often.
	got := mq.WaitMessages("orders", 2, limit)
	if len(got) < 2 || got[0].MsgID != sent.MsgID || got[1].MsgID != sent.MsgID {
		t.Errorf("stored %+v, want the message twice under one id", got)
	}
	// The consumer's own guard has to tell them apart by that id.
	box := consume(t, mq, "billing", "orders", goclient.Succeeds)
	box.await(t, 2)
}

func TestRestart(t *testing.T) {
	t.Parallel()
	mq := wheelmqtest.Start(t, wheelmqtest.Topic("orders", 1))
	p := goclient.Producer(t, mq.NameServerAddr())
	box := consume(t, mq, "billing", "orders", goclient.Succeeds)
	send(t, p, primitive.NewMessage("orders", []byte("before")))
	box.await(t, 1)
	mq.Restart()
	send(t, p, primitive.NewMessage("orders", []byte("after")))
	box.await(t, 2)
}

func TestKill_WithSyncFlushLosesNothing(t *testing.T) {
	t.Parallel()
	mq := wheelmqtest.Start(t, wheelmqtest.Topic("orders", 1), wheelmqtest.SyncFlush())
	p := goclient.Producer(t, mq.NameServerAddr())
	for range 10 {
		send(t, p, primitive.NewMessage("orders", []byte("durable")))
	}
	mq.Kill()
	if n := len(mq.Messages("orders")); n != 10 {
		t.Errorf("%d messages are left of 10", n)
	}
}

func TestSlowBroker(t *testing.T) {
	t.Parallel()
	mq := wheelmqtest.Start(t, wheelmqtest.Topic("orders", 1))
	p := goclient.Producer(t, mq.NameServerAddr(), producer.WithSendMsgTimeout(100*time.Millisecond), producer.WithRetry(0))
	slow := mq.Fault(wheelmqtest.Rule{Code: wheelmqtest.SendMessageV2, Delay: limit})
	if _, err := p.SendSync(t.Context(), primitive.NewMessage("orders", []byte("x"))); err == nil {
		t.Error("a send to a slow broker succeeded within its timeout")
	}
	slow.Remove()
	send(t, goclient.Producer(t, mq.NameServerAddr()), primitive.NewMessage("orders", []byte("y")))
}
