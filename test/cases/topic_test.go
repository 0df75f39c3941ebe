package cases

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestBadTopicName_IsRefused is case BR-40.
func TestBadTopicName_IsRefused(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	long := strings.Repeat("t", 128)
	for _, name := range []string{"a.b", "a b", "中文", "a+b", long, "", "TBW102", wire.ScheduleTopic} {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			answer := c.CreateTopic(t, wire.Topic{Name: name, Read: 1, Write: 1, Perm: wire.ReadWrite})
			wantCode(t, "create", answer, wire.InvalidParameter)
			if answer.Remark == "" {
				t.Error("create: no remark")
			}
		})
	}
	for _, name := range []string{"a.b", long} {
		wantCode(t, fmt.Sprintf("send to %.20q", name), c.Send(t, wire.Send{Topic: name, Body: []byte("x")}), wire.InvalidParameter)
	}
	for _, name := range []string{strings.Repeat("t", 127), "a|b%c-d_"} {
		answer := c.CreateTopic(t, wire.Topic{Name: name, Read: 1, Write: 1, Perm: wire.ReadWrite})
		wantCode(t, fmt.Sprintf("create %.20q", name), answer, wire.Success)
		c.MustSend(t, wire.Send{Topic: name, Body: []byte("x")})
	}
}

// TestQueueIDOutOfRange_IsRefused is case BR-41.
func TestQueueIDOutOfRange_IsRefused(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	four, one := suite.Name(t, "four"), suite.Name(t, "one")
	c.MustCreateTopic(t, four, 4)
	c.MustCreateTopic(t, one, 1)
	wantCode(t, "send to queue 99 of 4", c.Send(t, wire.Send{Topic: four, QueueID: 99, Body: []byte("x")}), wire.InvalidParameter)
	got := c.MustPull(t, wire.Pull{Group: suite.Name(t, "group"), Topic: one, QueueID: 5})
	wantCode(t, "pull of queue 5 of 1", got.Frame, wire.InvalidParameter)
	for range 8 {
		sent := c.MustSend(t, wire.Send{Topic: four, QueueID: -1, Body: []byte("x")})
		if sent.QueueID < 0 || sent.QueueID > 3 {
			t.Errorf("queue -1 became %d, want one of 0..3", sent.QueueID)
		}
	}
}

// TestTopicPermissions_AreObeyed is case BR-46: a topic that is not writable
// has no queue to write to in its route, one that is not readable refuses pulls.
func TestTopicPermissions_AreObeyed(t *testing.T) {
	t.Parallel()
	c, ns := dialBroker(t), dialNameServer(t)
	group := suite.Name(t, "group")
	for _, tc := range []struct {
		perm, pull int
	}{
		{4, wire.PullNotFound},
		{2, wire.NoPermission},
		{0, wire.NoPermission},
	} {
		t.Run(fmt.Sprintf("perm %d", tc.perm), func(t *testing.T) {
			topic := suite.Name(t, "topic")
			wantCode(t, "create", c.CreateTopic(t, wire.Topic{Name: topic, Read: 2, Write: 2, Perm: tc.perm}), wire.Success)
			suite.Eventually(t, wire.Timeout, "the topic has a route", func() bool {
				_, answer := ns.Route(t, topic)
				return answer.Code == wire.Success
			})
			route, _ := ns.Route(t, topic)
			if len(route.Queues) != 1 || route.Queues[0].Perm != tc.perm {
				t.Errorf("route %+v, want one broker with perm %d", route, tc.perm)
			}
			wantCode(t, "pull", c.MustPull(t, wire.Pull{Group: group, Topic: topic}).Frame, tc.pull)
			if tc.perm == 4 || tc.perm == 0 {
				if err := sendWithClient(t, topic); err == nil || !strings.Contains(err.Error(), "route info not found") {
					t.Errorf("a producer got %v, want it to find no queue to write to", err)
				}
			}
		})
	}
}

// sendWithClient sends one message with the Go client.
func sendWithClient(t *testing.T, topic string) error {
	t.Helper()
	p, err := rocketmq.NewProducer(
		producer.WithNameServer(primitive.NamesrvAddr{suite.Server().NameServerAddr}),
		producer.WithGroupName(suite.Name(t, "producer")),
		producer.WithInstanceName(topic),
		producer.WithRetry(0),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Shutdown() }()
	ctx, cancel := context.WithTimeout(t.Context(), wire.Timeout)
	defer cancel()
	_, err = p.SendSync(ctx, primitive.NewMessage(topic, []byte("x")))
	return err
}

// TestSendWithoutDefaultQueueNumber_MakesAUsableTopic is case BR-50: a client
// leaves out defaultTopicQueueNums, and the topic got no queue.
func TestSendWithoutDefaultQueueNumber_MakesAUsableTopic(t *testing.T) {
	t.Parallel()
	c, ns := dialBroker(t), dialNameServer(t)
	topic := suite.Name(t, "topic")
	header := wire.Send{Topic: topic, Body: []byte("x")}.Header()
	delete(header, "d")
	answer := c.Call(t, wire.SendMessageV2, header, []byte("x"))
	queues := 0
	if answer.Code == wire.Success {
		suite.Eventually(t, wire.Timeout, "the new topic has a route", func() bool {
			route, _ := ns.Route(t, topic)
			if len(route.Queues) == 1 {
				queues = route.Queues[0].WriteQueues
			}
			return len(route.Queues) == 1
		})
	}
	suite.Differs(t, "cases/send-without-default-queue-number", answer.Code == wire.Success && queues == 8,
		fmt.Sprintf("%v, %d queues", answer, queues))

	existing := suite.Name(t, "existing")
	c.MustCreateTopic(t, existing, 4)
	header["b"] = existing
	wantCode(t, "send to an existing topic", c.Call(t, wire.SendMessageV2, header, []byte("x")), wire.Success)
}

// TestDefaultQueueNumber_IsCapped belongs to case BR-50: a client cannot make
// more queues than the broker's default.
func TestDefaultQueueNumber_IsCapped(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustSend(t, wire.Send{Topic: topic, DefaultQueues: 16, QueueID: 7, Body: []byte("x")})
	wantCode(t, "send to queue 9", c.Send(t, wire.Send{Topic: topic, DefaultQueues: 16, QueueID: 9, Body: []byte("x")}), wire.InvalidParameter)
}

// TestBatchToUnknownTopic_CreatesIt is case BR-51.
func TestBatchToUnknownTopic_CreatesIt(t *testing.T) {
	t.Parallel()
	c, ns := dialBroker(t), dialNameServer(t)
	topic := suite.Name(t, "topic")
	answer := c.SendBatch(t, wire.Send{Topic: topic, QueueID: 1},
		wire.BatchItem{Body: []byte("one")}, wire.BatchItem{Body: []byte("two")}, wire.BatchItem{Body: []byte("three")})
	wantCode(t, "batch", answer, wire.Success)
	ids := strings.Split(answer.Ext["msgId"], ",")
	if len(ids) != 3 {
		t.Fatalf("msgId %q, want three ids", answer.Ext["msgId"])
	}
	for i, id := range ids {
		_, offset, err := wire.ParseMsgID(id)
		if err != nil {
			t.Fatal(err)
		}
		m, view := c.View(t, offset)
		wantCode(t, "view", view, wire.Success)
		if m.QueueOffset != int64(i) || m.QueueID != 1 {
			t.Errorf("message %d is at %d of queue %d, want %d of queue 1", i, m.QueueOffset, m.QueueID, i)
		}
	}
	c.Settle(t, topic, 1, 3)
	got := c.PullAll(t, wire.Pull{Group: suite.Name(t, "group"), Topic: topic, QueueID: 1})
	if found := strings.Join(bodies(got), " "); found != "one two three" {
		t.Errorf("pulled %q, want the three in order", found)
	}
	suite.Eventually(t, wire.Timeout, "the topic has a route", func() bool {
		_, route := ns.Route(t, topic)
		return route.Code == wire.Success
	})
}

// TestUnknownTopic_HasNoRoute is case BR-52.
func TestUnknownTopic_HasNoRoute(t *testing.T) {
	t.Parallel()
	topic := suite.Name(t, "unknown")
	_, answer := dialNameServer(t).Route(t, topic)
	wantNoRoute(t, topic, answer)
}

// TestAutoCreationSwitchedOff_HidesTheTemplate is case BR-52 with
// autoCreateTopicEnable=false: without TBW102 no client can create a topic.
func TestAutoCreationSwitchedOff_HidesTheTemplate(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, map[string]string{"autoCreateTopicEnable": "false"})
	c, ns := wire.Dial(t, target.BrokerAddr), wire.Dial(t, target.NameServerAddr)
	_, answer := ns.Route(t, "TBW102")
	wantNoRoute(t, "TBW102", answer)
	topic := suite.Name(t, "topic")
	answer = c.Send(t, wire.Send{Topic: topic, Body: []byte("x")})
	wantCode(t, "send to an unknown topic", answer, wire.TopicNotExist)
	if want := "topic[" + topic + "] not exist, apply first please!"; !strings.HasPrefix(answer.Remark, want) {
		t.Errorf("remark %q, want it to begin with %q", answer.Remark, want)
	}
	c.MustCreateTopic(t, topic, 1)
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("x")})
}

func wantNoRoute(t *testing.T, topic string, answer *wire.Frame) {
	t.Helper()
	wantCode(t, "route of "+topic, answer, wire.TopicNotExist)
	if want := "No topic route info in name server for the topic: " + topic; !strings.HasPrefix(answer.Remark, want) {
		t.Errorf("remark %q, want it to begin with %q", answer.Remark, want)
	}
}

// TestRetryTopicOfNewGroup_IsRoutedAtOnce is case BR-53: a consumer could not
// start because %RETRY%group had no route before the next registration.
func TestRetryTopicOfNewGroup_IsRoutedAtOnce(t *testing.T) {
	t.Parallel()
	c, ns := dialBroker(t), dialNameServer(t)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	// Groups one after the other that waited for a registration, every 30 s, would take 90 s at least.
	const groups, limit = 4, time.Minute
	begin := time.Now()
	for range groups {
		group := suite.Name(t, "group")
		join(t, c, group, topic)
		var route wire.Route
		suite.Eventually(t, wire.Timeout, "the retry topic has a route", func() bool {
			var answer *wire.Frame
			route, answer = ns.Route(t, "%RETRY%"+group)
			return answer.Code == wire.Success
		})
		if len(route.Queues) != 1 || route.Queues[0].ReadQueues != 1 || route.Queues[0].WriteQueues != 1 || route.Queues[0].Perm != wire.ReadWrite {
			t.Errorf("route %+v, want one queue with perm 6", route)
		}
	}
	if took := time.Since(begin); took > limit {
		t.Errorf("%d groups were routed after %v, want at most %v", groups, took, limit)
	}
}
