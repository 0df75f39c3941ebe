package cases

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestNewGroupOnYoungTopic_StartsAtZero is case BR-20: whatever its policy
// says, a new group begins at 0 while the first message is still at hand.
func TestNewGroupOnYoungTopic_StartsAtZero(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	for range 3 {
		c.MustSend(t, wire.Send{Topic: topic, Body: []byte("history")})
	}
	c.Settle(t, topic, 0, 3)
	answer := c.QueryOffset(t, group, topic, 0, nil)
	wantCode(t, "query", answer, wire.Success)
	if got := answer.Int64(t, "offset"); got != 0 {
		t.Errorf("offset %d, want 0", got)
	}
	answer = c.QueryOffset(t, group, topic, 0, map[string]string{"setZeroIfNotFound": "false"})
	wantCode(t, "query with setZeroIfNotFound=false", answer, wire.QueryNotFound)
}

// TestNewGroupOnUnknownQueue_HasNoOffset is case BR-21.
func TestNewGroupOnUnknownQueue_HasNoOffset(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 4)
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("x")})
	for what, answer := range map[string]*wire.Frame{
		"unknown topic": c.QueryOffset(t, group, suite.Name(t, "unknown"), 0, nil),
		"queue 9 of 4":  c.QueryOffset(t, group, topic, 9, nil),
		"empty queue":   c.QueryOffset(t, group, topic, 1, nil),
	} {
		wantCode(t, what, answer, wire.QueryNotFound)
		if !strings.HasPrefix(answer.Remark, "Not found") {
			t.Errorf("%s: remark %q, want it to begin with \"Not found\"", what, answer.Remark)
		}
	}
}

// TestPullOffsetOutOfRange_IsCorrectedToTheNearestEnd is case BR-22: an offset
// beyond the end was corrected to 0 and everything was consumed again.
func TestPullOffsetOutOfRange_IsCorrectedToTheNearestEnd(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 2)
	const stored = 5
	for range stored {
		c.MustSend(t, wire.Send{Topic: topic, QueueID: 0, Body: []byte("x")})
	}
	c.Settle(t, topic, 0, stored)
	for _, tc := range []struct {
		queue        int
		offset, next int64
		code         int
		max          int64
	}{
		{0, 5, 5, wire.PullNotFound, stored},
		{0, 6, 5, wire.PullOffsetMoved, stored},
		{0, 100, 5, wire.PullOffsetMoved, stored},
		{0, -1, 0, wire.PullOffsetMoved, stored},
		{1, 0, 0, wire.PullNotFound, 0},
		{1, 7, 0, wire.PullOffsetMoved, 0},
	} {
		what := fmt.Sprintf("pull of queue %d at %d", tc.queue, tc.offset)
		got := c.MustPull(t, wire.Pull{Group: group, Topic: topic, QueueID: tc.queue, Offset: tc.offset})
		wantCode(t, what, got.Frame, tc.code)
		if got.NextBeginOffset != tc.next || got.MinOffset != 0 || got.MaxOffset != tc.max {
			t.Errorf("%s: next %d, min %d, max %d; want %d, 0, %d",
				what, got.NextBeginOffset, got.MinOffset, got.MaxOffset, tc.next, tc.max)
		}
	}
}

// TestCommitOfUnknownGroup_IsRefused is case BR-23.
func TestCommitOfUnknownGroup_IsRefused(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 1)
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("x")})

	answer := c.Commit(t, group, topic, 0, 1)
	wantCode(t, "commit of an unknown group", answer, wire.GroupNotExist)
	if want := "Group " + group + " not exist!"; answer.Remark != want {
		t.Errorf("remark %q, want %q", answer.Remark, want)
	}
	wantCode(t, "query after it", c.QueryOffset(t, group, topic, 0, map[string]string{"setZeroIfNotFound": "false"}), wire.QueryNotFound)

	join(t, c, group, topic)
	unknown := suite.Name(t, "unknown")
	answer = c.Commit(t, group, unknown, 0, 1)
	wantCode(t, "commit on an unknown topic", answer, wire.TopicNotExist)
	if want := "Topic " + unknown + " not exist!"; answer.Remark != want {
		t.Errorf("remark %q, want %q", answer.Remark, want)
	}
}

// TestCommit_StoresWhatTheClientSays belongs to case BR-23: a commit beyond
// the end is stored, a negative one is 0, going back is allowed.
func TestCommit_StoresWhatTheClientSays(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 1)
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("x")})
	join(t, c, group, topic)
	for _, tc := range []struct{ commit, want int64 }{{999, 999}, {-5, 0}, {3, 3}, {1, 1}} {
		wantCode(t, "commit", c.Commit(t, group, topic, 0, tc.commit), wire.Success)
		answer := c.QueryOffset(t, group, topic, 0, nil)
		wantCode(t, "query", answer, wire.Success)
		if got := answer.Int64(t, "offset"); got != tc.want {
			t.Errorf("after a commit of %d the offset is %d, want %d", tc.commit, got, tc.want)
		}
	}
}

// TestCommittedOffset_SurvivesACleanRestart is case BR-27: consumed messages
// came again after a restart.
func TestCommittedOffset_SurvivesACleanRestart(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, nil)
	c := wire.Dial(t, target.BrokerAddr)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 2)
	for i := range 10 {
		c.MustSend(t, wire.Send{Topic: topic, QueueID: i % 2, Body: []byte("x")})
	}
	join(t, c, group, topic)
	wantCode(t, "commit", c.Commit(t, group, topic, 0, 3), wire.Success)
	wantCode(t, "commit", c.Commit(t, group, topic, 1, 4), wire.Success)

	target.Restart()
	c = wire.Dial(t, target.BrokerAddr)
	for queue, want := range []int64{3, 4} {
		answer := c.QueryOffset(t, group, topic, queue, nil)
		wantCode(t, "query after the restart", answer, wire.Success)
		if got := answer.Int64(t, "offset"); got != want {
			t.Errorf("offset of queue %d is %d, want %d", queue, got, want)
		}
		if got := c.MaxOffset(t, topic, queue); got != 5 {
			t.Errorf("queue %d ends at %d, want 5", queue, got)
		}
	}
}

// join makes the group known to the broker, as a consumer's first heartbeat does.
func join(t *testing.T, c *wire.Conn, group, topic string) {
	t.Helper()
	c.Heartbeat(t, wire.Member{
		ClientID: "127.0.0.1@" + group, Group: group, Subscriptions: map[string]string{topic: "*"},
	})
}
