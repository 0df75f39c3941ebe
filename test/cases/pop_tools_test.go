package cases

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestPop_ProgressAndTheEndOfATopic is what tools see of a group that pops: how far it is is what was handed
// out, or in order what was acknowledged. The retry topic goes with its topic.
func TestPop_ProgressAndTheEndOfATopic(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 3)
	retry := "%RETRY%" + group + "_" + topic
	stats := func(group, topic, want string) {
		t.Helper()
		answer := c.Call(t, wire.GetConsumeStats, map[string]string{"consumerGroup": group, "topic": topic}, nil)
		wantCode(t, "consume stats", answer, wire.Success)
		row := regexp.MustCompile(`"brokerOffset":(\d+),"consumerOffset":(\d+),"lastTimestamp":\d+,"pullOffset":(\d+)`).FindSubmatch(answer.Body)
		if got := fmt.Sprintf("%s", row[min(1, len(row)):]); got != want {
			t.Errorf("progress of %s in %s: %s, want %s", group, topic, got, want)
		}
	}
	got := c.MustPop(t, wire.Pop{Group: group, Topic: topic, MaxMsgNums: 2, Invisible: time.Second})
	wantPopped(t, "pop", got, "0", "1")
	ordered := c.MustPop(t, wire.Pop{Group: group + "-order", Topic: topic, MaxMsgNums: 2, Order: true})
	wantPopped(t, "pop in order", ordered, "0", "1")
	wantCode(t, "ack", c.Ack(t, ordered.Messages[0]), wire.Success)
	// The real broker lets others see it later.
	suite.Eventually(t, slow, "both are shown", func() bool {
		return c.QueryOffset(t, group, topic, 0, nil).Ext["offset"] == "2" && c.QueryOffset(t, group+"-order", topic, 0, nil).Ext["offset"] == "1"
	})
	stats(group, topic, "[3 2 2]")
	stats(group+"-order", topic, "[3 1 1]")
	suite.Eventually(t, slow, "both come back", func() bool { return c.MaxOffset(t, retry, 0) == 2 })
	stats(group, retry, "[2 0 0]")
	wantCode(t, "delete", c.Call(t, 215, map[string]string{"topic": topic}, nil), wire.Success)
	wantCode(t, "the retry topic", c.Call(t, 351, map[string]string{"topic": retry}, nil), wire.TopicNotExist)
}

// TestPop_OffsetsSurviveARestart is case BR-27 for pop: what was consumed does not come again.
func TestPop_OffsetsSurviveARestart(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, nil)
	c := wire.Dial(t, target.BrokerAddr)
	topic, group := filled(t, c, 1, 5)
	p := wire.Pop{Group: group, Topic: topic, MaxMsgNums: 3, Invisible: time.Hour}
	got := c.MustPop(t, p)
	wantPopped(t, "before", got, "0", "1", "2")
	wantCode(t, "ack", c.BatchAck(t, topic, got.Messages...), wire.Success)
	c.Close()
	target.Restart()
	c = wire.Dial(t, target.BrokerAddr)
	suite.Eventually(t, slow, "the broker answers", func() bool { return c.MaxOffset(t, topic, 0) == 5 })
	wantPopped(t, "after", c.MustPop(t, p), "3", "4")
}

// TestPop_Reset pops from where the offset was reset to (222).
func TestPop_Reset(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := filled(t, c, 1, 4)
	p := wire.Pop{Group: group, Topic: topic}
	wantPopped(t, "pop", c.MustPop(t, p), "0", "1", "2", "3")
	answer := c.Call(t, 222, map[string]string{
		"topic": topic, "group": group, "queueId": "0", "offset": "2", "timestamp": "0", "isForce": "true",
	}, nil)
	wantCode(t, "reset", answer, wire.Success)
	wantPopped(t, "after the reset", c.MustPop(t, p), "2", "3")
}
