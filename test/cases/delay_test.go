package cases

import (
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// maxLevel is the highest level of the default table, 2 h.
const maxLevel = 18

// TestDelayLevelAboveMaximum_IsClamped is case BR-01: a level given in minutes
// made the message disappear. It runs before the parallel tests, so that
// nobody else adds to the schedule queue.
func TestDelayLevelAboveMaximum_IsClamped(t *testing.T) {
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	before := c.MaxOffset(t, wire.ScheduleTopic, maxLevel-1)
	sent := c.MustSend(t, wire.Send{
		Topic: topic, QueueID: 1, Body: []byte("later"), Properties: wire.Properties("DELAY", "1959"),
	})
	if sent.QueueID != 1 {
		t.Errorf("the answer names queue %d, want the real queue 1", sent.QueueID)
	}
	suite.Eventually(t, wire.Timeout, "the schedule queue of level 18 grows by 1", func() bool {
		return c.MaxOffset(t, wire.ScheduleTopic, maxLevel-1) == before+1
	})
	stored, answer := c.View(t, sent.CommitLogOffset)
	wantCode(t, "view", answer, wire.Success)
	if stored.Topic != wire.ScheduleTopic || stored.QueueID != maxLevel-1 {
		t.Errorf("stored in %s@%d, want %s@%d", stored.Topic, stored.QueueID, wire.ScheduleTopic, maxLevel-1)
	}
	for name, want := range map[string]string{"DELAY": "18", "REAL_TOPIC": topic, "REAL_QID": "1"} {
		if got := stored.Properties[name]; got != want {
			t.Errorf("property %s is %q, want %q", name, got, want)
		}
	}
	if n := c.MaxOffset(t, topic, 1); n != 0 {
		t.Errorf("the real queue holds %d messages, want none before the time", n)
	}
}

// TestDelayLevelZeroOrNegative_IsDeliveredAtOnce is case BR-02.
func TestDelayLevelZeroOrNegative_IsDeliveredAtOnce(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"0", "-1"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			c := dialBroker(t)
			topic := suite.Name(t, "topic")
			sent := c.MustSend(t, wire.Send{Topic: topic, Body: []byte("now"), Properties: wire.Properties("DELAY", level)})
			stored, answer := c.View(t, sent.CommitLogOffset)
			wantCode(t, "view", answer, wire.Success)
			if stored.Topic != topic {
				t.Errorf("stored in %s, want %s", stored.Topic, topic)
			}
			got := c.MustPull(t, wire.Pull{Group: suite.Name(t, "group"), Topic: topic, Suspend: wire.Timeout})
			if len(got.Messages) != 1 || string(got.Messages[0].Body) != "now" {
				t.Errorf("pulled %v, want the message", got.Frame)
			}
		})
	}
}

// TestDelayLevelNotANumber_IsRefused is case BR-02 too: a level that is no
// number must not be stored, neither at once nor later.
func TestDelayLevelNotANumber_IsRefused(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	answer := c.Send(t, wire.Send{Topic: topic, Body: []byte("never"), Properties: wire.Properties("DELAY", "abc")})
	if answer.Code == wire.Success {
		t.Fatalf("accepted: %v", answer)
	}
	suite.Differs(t, "cases/delay-level-not-a-number", answer.Code == wire.MessageIllegal && answer.Remark != "", answer.String())
	// A message behind it shows that nothing of the refused one was stored.
	sent := c.MustSend(t, wire.Send{Topic: topic, Body: []byte("next")})
	if sent.QueueOffset != 0 {
		t.Errorf("the next message has offset %d, want 0", sent.QueueOffset)
	}
}

// TestOwnDelayLevelTable_CountsLevelsFromOne is case BR-14: a table with days,
// levels counted from 1 and clamped to the last.
func TestOwnDelayLevelTable_CountsLevelsFromOne(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, map[string]string{"messageDelayLevel": "1s 3s 1d"})
	c := wire.Dial(t, target.BrokerAddr)
	topic := suite.Name(t, "topic")

	begin := time.Now()
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("in 3 s"), Properties: wire.Properties("DELAY", "2")})
	last := c.MustSend(t, wire.Send{Topic: topic, Body: []byte("in a day"), Properties: wire.Properties("DELAY", "9")})

	stored, answer := c.View(t, last.CommitLogOffset)
	wantCode(t, "view", answer, wire.Success)
	if stored.Topic != wire.ScheduleTopic || stored.QueueID != 2 || stored.Properties["DELAY"] != "3" {
		t.Errorf("level 9 of 3 is stored in %s@%d with DELAY=%s, want %s@2 with DELAY=3",
			stored.Topic, stored.QueueID, stored.Properties["DELAY"], wire.ScheduleTopic)
	}
	got := c.MustPull(t, wire.Pull{Group: suite.Name(t, "group"), Topic: topic, Suspend: wire.Timeout})
	if late := time.Since(begin); late < 3*time.Second {
		t.Errorf("delivered after %v, want not before 3 s", late)
	}
	if len(got.Messages) != 1 || string(got.Messages[0].Body) != "in 3 s" {
		t.Errorf("pulled %v with %q, want the message of level 2", got.Frame, bodies(got.Messages))
	}
}
