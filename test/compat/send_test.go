package compat

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

func TestSendSync_ArrivesOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, 4)
	box := l.consume(t)
	p := l.producer(t)
	want := numbered("sync", 20)
	for _, body := range want {
		result := send(t, p, primitive.NewMessage(l.topic, []byte(body)))
		if result.MsgID == "" || result.OffsetMsgID == "" || result.TransactionID == "" || result.RegionID != "DefaultRegion" {
			t.Errorf("incomplete result: %+v", result)
		}
	}
	box.wantOnce(t, want...)
}

func TestSendAsync_CallsBackAndArrivesOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, 4)
	box := l.consume(t)
	p := l.producer(t)
	want := numbered("async", 50)
	var calls sync.WaitGroup
	for _, body := range want {
		calls.Add(1)
		err := p.SendAsync(t.Context(), func(_ context.Context, result *primitive.SendResult, err error) {
			defer calls.Done()
			if err != nil || result.Status != primitive.SendOK {
				t.Errorf("callback: %v, %v", result, err)
			}
		}, primitive.NewMessage(l.topic, []byte(body)))
		if err != nil {
			calls.Done()
			t.Error(err)
		}
	}
	calls.Wait()
	box.wantOnce(t, want...)
}

func TestSendOneWay_ArrivesOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, 4)
	box := l.consume(t)
	p := l.producer(t)
	want := numbered("oneway", 50)
	for _, body := range want {
		if err := p.SendOneWay(t.Context(), primitive.NewMessage(l.topic, []byte(body))); err != nil {
			t.Fatal(err)
		}
	}
	box.wantOnce(t, want...)
}

func TestSendBatch_KeepsOrderAndProperties(t *testing.T) {
	t.Parallel()
	l := newLab(t, 4)
	p := l.producer(t)
	want := numbered("batch", 30)
	var batch []*primitive.Message
	for i, body := range want {
		m := primitive.NewMessage(l.topic, []byte(body)).WithTag(fmt.Sprintf("tag%d", i%3))
		m.WithKeys([]string{fmt.Sprintf("key%d", i)})
		batch = append(batch, m)
	}
	result := send(t, p, batch...)
	if ids := strings.Split(result.OffsetMsgID, ","); len(ids) != len(want) {
		t.Errorf("%d message ids, want %d", len(ids), len(want))
	}
	l.settle(t, len(want))
	got := l.wire.PullAll(t, wire.Pull{Group: l.group, Topic: l.topic, QueueID: result.MessageQueue.QueueId})
	if len(got) != len(want) {
		t.Fatalf("%d messages in queue %d, want %d", len(got), result.MessageQueue.QueueId, len(want))
	}
	for i, m := range got {
		if string(m.Body) != want[i] || m.Properties["TAGS"] != fmt.Sprintf("tag%d", i%3) || m.Properties["KEYS"] != fmt.Sprintf("key%d", i) {
			t.Errorf("message %d is %q with %v", i, m.Body, m.Properties)
		}
	}
	l.consume(t).wantOnce(t, want...)
}

func TestSendWithSelector_GoesToTheChosenQueue(t *testing.T) {
	t.Parallel()
	l := newLab(t, 4)
	manual := l.producer(t, producer.WithQueueSelector(producer.NewManualQueueSelector()))
	for queue := range l.queues {
		m := l.message("manual %d", queue)
		m.Queue = &primitive.MessageQueue{Topic: l.topic, BrokerName: "broker-a", QueueId: queue}
		if result := send(t, manual, m); result.MessageQueue.QueueId != queue || result.QueueOffset != 0 {
			t.Errorf("sent to queue %d: %v", queue, result)
		}
	}
	robin := l.producer(t, producer.WithQueueSelector(producer.NewRoundRobinQueueSelector()))
	for i := range l.queues {
		send(t, robin, l.message("robin %d", i))
	}
	hash := l.producer(t, producer.WithQueueSelector(producer.NewHashQueueSelector()))
	const hashed = 5
	used := make(map[int]bool)
	for i := range hashed {
		used[send(t, hash, l.message("hash %d", i).WithShardingKey("one key")).MessageQueue.QueueId] = true
	}
	l.settle(t, 2*l.queues+hashed)
	if len(used) != 1 {
		t.Errorf("one sharding key went to %d queues", len(used))
	}
	for queue := range l.queues {
		n := l.wire.MaxOffset(t, l.topic, queue)
		if want := int64(2); !used[queue] && n != want {
			t.Errorf("queue %d holds %d messages, want one manual and one of the round robin", queue, n)
		}
	}
}

// TestSendToUnknownTopic_CreatesIt is what a first program does.
func TestSendToUnknownTopic_CreatesIt(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	l.topic = suite.Name(t, "fresh")
	want := numbered("first", 8)
	p := l.producer(t)
	for _, body := range want {
		send(t, p, primitive.NewMessage(l.topic, []byte(body)))
	}
	wire.Introduce(t, l.server.BrokerAddr, l.group, l.topic)
	l.consume(t).wantOnce(t, want...)
}

// TestLargeBodies_UpToTheLimit sends the largest body allowed and one byte
// more. The client itself has no limit.
func TestLargeBodies_UpToTheLimit(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	const most = 4 << 20
	p := l.producer(t, producer.WithCompressMsgBodyOverHowmuch(2*most), producer.WithRetry(0))
	body := bytes.Repeat([]byte("wheelmq!"), most/8)
	send(t, p, primitive.NewMessage(l.topic, body))
	_, err := p.SendSync(t.Context(), primitive.NewMessage(l.topic, append(bytes.Clone(body), 'x')))
	if err == nil || !strings.Contains(err.Error(), "CODE: 13") {
		t.Errorf("one byte more: %v, want code 13", err)
	}
	box := l.consume(t)
	box.wait(t, 1)
	if got := box.all(); len(got) != 1 || !bytes.Equal(got[0].Body, body) {
		t.Errorf("%d messages arrived, want one of %d bytes unchanged", len(got), most)
	}
}

// TestCompressedBody_ArrivesUnpacked sends what the client compresses by itself.
func TestCompressedBody_ArrivesUnpacked(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	body := bytes.Repeat([]byte("compress me "), 10_000)
	send(t, l.producer(t), primitive.NewMessage(l.topic, body))
	l.settle(t, 1)
	stored := l.wire.PullAll(t, wire.Pull{Group: l.group, Topic: l.topic})
	if len(stored) != 1 || stored[0].SysFlag&wire.SysFlagCompressed == 0 || len(stored[0].Body) >= len(body) {
		t.Errorf("the body is not stored compressed")
	}
	box := l.consume(t)
	box.wait(t, 1)
	if got := box.all()[0]; !bytes.Equal(got.Body, body) {
		t.Errorf("%d bytes arrived, want the %d that were sent", len(got.Body), len(body))
	}
}

func TestUnicode_SurvivesTheWholeWay(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	m := primitive.NewMessage(l.topic, []byte("正文 🚀 \x00\xff")).WithTag("标签")
	m.WithKeys([]string{"订单-1", "🛰"})
	m.WithProperty("名字", "Жук \"quoted\" \\ \n\t;,=")
	send(t, l.producer(t), m)
	box := l.consume(t)
	box.wait(t, 1)
	got := box.all()[0]
	if string(got.Body) != "正文 🚀 \x00\xff" || got.GetTags() != "标签" || got.GetKeys() != "订单-1 🛰" {
		t.Errorf("body %q, tag %q, keys %q", got.Body, got.GetTags(), got.GetKeys())
	}
	if value := got.GetProperty("名字"); value != "Жук \"quoted\" \\ \n\t;,=" {
		t.Errorf("property %q", value)
	}
}

// TestViewByMessageID reads a message by the id that the client was given,
// taken apart by the client's own library.
func TestViewByMessageID(t *testing.T) {
	t.Parallel()
	l := newLab(t, 2)
	result := send(t, l.producer(t), l.message("look at me").WithTag("t"))
	id, err := primitive.UnmarshalMsgID([]byte(result.OffsetMsgID))
	if err != nil {
		t.Fatal(err)
	}
	if at := fmt.Sprintf("%s:%d", id.Addr, id.Port); at != l.server.BrokerAddr {
		t.Errorf("the id names %s, want %s", at, l.server.BrokerAddr)
	}
	m, answer := l.wire.View(t, id.Offset)
	if answer.Code != wire.Success || string(m.Body) != "look at me" || m.QueueID != result.MessageQueue.QueueId ||
		m.QueueOffset != result.QueueOffset || m.Properties["UNIQ_KEY"] != result.MsgID {
		t.Errorf("view of %s: %v, %+v", result.OffsetMsgID, answer, m)
	}
}
