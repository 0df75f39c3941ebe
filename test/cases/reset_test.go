package cases

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// Request codes of offset administration (RocketMQ 5.5.0).
const (
	codeResetOffset = 222
	codeCloneOffset = 314
)

// reset is a request as mqadmin resetOffsetByTime sends it.
func reset(t *testing.T, c *wire.Conn, group, topic string, timestamp int64) *wire.Frame {
	t.Helper()
	return c.Call(t, codeResetOffset, map[string]string{
		"topic": topic, "group": group, "timestamp": strconv.FormatInt(timestamp, 10), "isForce": "true", "queueId": "-1", "offset": "-1",
	}, nil)
}

func wantOffset(t *testing.T, c *wire.Conn, what, group, topic string, want int64) {
	t.Helper()
	answer := c.QueryOffset(t, group, topic, 0, map[string]string{"setZeroIfNotFound": "false"})
	wantCode(t, what, answer, wire.Success)
	if got := answer.Int64(t, "offset"); got != want {
		t.Errorf("%s: the offset is %d, want %d", what, got, want)
	}
}

// TestResetOffset_EndsWhereItSays is case BR-24: a reset to "now" ended one short.
func TestResetOffset_EndsWhereItSays(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	fill(t, c, topic, 2)
	wantCode(t, "reset of an unknown group", reset(t, c, group, topic, -1), wire.GroupNotExist)
	join(t, c, group, topic)
	for _, tc := range []struct{ timestamp, want int64 }{{-1, 2}, {0, 0}, {time.Now().Add(time.Hour).UnixMilli(), 2}} {
		what := fmt.Sprintf("reset to %d", tc.timestamp)
		answer := reset(t, c, group, topic, tc.timestamp)
		wantCode(t, what, answer, wire.Success)
		want := fmt.Sprintf(`{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"%s"}:%d}}`, topic, tc.want)
		if string(answer.Body) != want {
			t.Errorf("%s: %s, want %s", what, answer.Body, want)
		}
		wantOffset(t, c, what, group, topic, tc.want)
	}
	wantCode(t, "reset of an unknown topic", reset(t, c, group, suite.Name(t, "unknown"), -1), wire.TopicNotExist)
}

// TestResetOffset_IsNotOverwritten is case BR-25: a running consumer overwrote the reset offset with
// its old one.
func TestResetOffset_IsNotOverwritten(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	fill(t, c, topic, 3)
	join(t, c, group, topic)
	wantCode(t, "commit", c.Commit(t, group, topic, 0, 3), wire.Success)
	wantCode(t, "reset", reset(t, c, group, topic, 0), wire.Success)
	answer := c.Commit(t, group, topic, 0, 999)
	wantCode(t, "commit after the reset", answer, wire.Success)
	if answer.Remark != "Offset has been previously reset" {
		t.Errorf("remark %q", answer.Remark)
	}
	wantOffset(t, c, "after it", group, topic, 0)
	for _, step := range []struct {
		at, next int64
		code     int
		remark   string
	}{{3, 0, wire.PullOffsetMoved, "OFFSET_RESET"}, {0, 3, wire.Success, "FOUND"}, {3, 3, wire.PullNotFound, "OFFSET_OVERFLOW_ONE"}} {
		got := c.MustPull(t, wire.Pull{Group: group, Topic: topic, Offset: step.at})
		wantCode(t, "pull", got.Frame, step.code)
		if got.Frame.Remark != step.remark || got.NextBeginOffset != step.next || got.MinOffset != 0 || got.MaxOffset != 3 {
			t.Errorf("pull at %d: %q, next %d, of %d to %d", step.at, got.Frame.Remark, got.NextBeginOffset, got.MinOffset, got.MaxOffset)
		}
	}
	wantCode(t, "commit", c.Commit(t, group, topic, 0, 2), wire.Success)
	wantOffset(t, c, "a commit after the pull", group, topic, 2)
}

// TestResetOffset_ReachesAGoConsumer is case BR-26: a reset with the consumer online did nothing. The
// Go client waits for 10 s when it is sent to another offset, and, told nothing, takes its queue
// again when it next divides the queues, up to 20 s later.
func TestResetOffset_ReachesAGoConsumer(t *testing.T) {
	t.Parallel()
	goclient.Quiet()
	server := suite.Server()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 1)
	const messages = 10
	for range messages {
		c.MustSend(t, wire.Send{Topic: topic, Body: []byte("x")})
	}
	var consumed atomic.Int64
	goclient.Consumer(t, server.NameServerAddr, group, topic, func(*primitive.MessageExt) consumer.ConsumeResult {
		consumed.Add(1)
		return consumer.ConsumeSuccess
	})
	suite.Eventually(t, slow, "the messages are consumed", func() bool { return consumed.Load() == messages })
	suite.Eventually(t, slow, "the consumer commits", func() bool {
		answer := c.QueryOffset(t, group, topic, 0, map[string]string{"setZeroIfNotFound": "false"})
		return answer.Code == wire.Success && answer.Int64(t, "offset") == messages
	})
	began := time.Now()
	wantCode(t, "reset", reset(t, c, group, topic, 0), wire.Success)
	suite.Eventually(t, slow, "the messages are consumed again", func() bool { return consumed.Load() == 2*messages })
	t.Logf("%s: consumed again %v after the reset", peer.TargetKind(), time.Since(began).Round(100*time.Millisecond))
	suite.Eventually(t, slow, "the consumer commits again", func() bool {
		return c.QueryOffset(t, group, topic, 0, nil).Int64(t, "offset") == messages
	})
}

// TestResetOffset_WakesAPull that waits at the end of its queue.
func TestResetOffset_WakesAPull(t *testing.T) {
	t.Parallel()
	c, puller := dialBroker(t), dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	fill(t, c, topic, 3)
	join(t, c, group, topic)
	// A pull that comes after the reset is answered at once by both.
	suspend, lead := 90*time.Second, 500*time.Millisecond
	if peer.TargetKind() == peer.Real {
		suspend, lead = 20*time.Second, 5*time.Second
	}
	begun := time.Now()
	var got wire.Pulled
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		got, err = puller.Pull(t.Context(), wire.Pull{Group: group, Topic: topic, Offset: 3, Suspend: suspend})
	}()
	time.Sleep(lead)
	wantCode(t, "reset", reset(t, c, group, topic, 0), wire.Success)
	<-done
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	wantCode(t, "pull", got.Frame, wire.PullOffsetMoved)
	if got.Frame.Remark != "OFFSET_RESET" || got.NextBeginOffset != 0 {
		t.Errorf("%v, next %d", got.Frame, got.NextBeginOffset)
	}
	suite.Differs(t, "cases/reset-wakes-pulls", took < suspend, fmt.Sprintf("answered after %v of %v", took.Round(time.Second), suspend))
}

// TestCloneOffsets copies one group's progress to another.
func TestCloneOffsets(t *testing.T) {
	t.Parallel()
	c, topic := dialBroker(t), suite.Name(t, "topic")
	to := cloneGroup(t, c, topic, map[string]string{"topic": topic})
	wantOffset(t, c, "cloned", to, topic, 7)
}

// TestCloneOffsets_OfAllTopics leaves the topic out.
func TestCloneOffsets_OfAllTopics(t *testing.T) {
	t.Parallel()
	c, topic := dialBroker(t), suite.Name(t, "topic")
	to := cloneGroup(t, c, topic, map[string]string{})
	cloned := c.QueryOffset(t, to, topic, 0, map[string]string{"setZeroIfNotFound": "false"})
	suite.Differs(t, "cases/clone-of-all-topics", cloned.Code == wire.Success && cloned.Ext["offset"] == "7", cloned.String())
}

// cloneGroup commits the offset 7 of a new topic for a group, copies the group's progress to another, and returns that.
func cloneGroup(t *testing.T, c *wire.Conn, topic string, fields map[string]string) (to string) {
	t.Helper()
	from := suite.Name(t, "from")
	to = suite.Name(t, "to")
	c.MustCreateTopic(t, topic, 1)
	join(t, c, from, topic)
	wantCode(t, "commit", c.Commit(t, from, topic, 0, 7), wire.Success)
	fields["srcGroup"], fields["destGroup"], fields["offline"] = from, to, "false"
	wantCode(t, "clone", c.Call(t, codeCloneOffset, fields, nil), wire.Success)
	return to
}
