package cases

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// Request codes of group administration (RocketMQ 5.5.0).
const (
	codeDeleteGroup      = 207
	codeCorrectionOffset = 308
	codeForbidden        = 353
)

// announcedPull is a pull that leaves its subscription to the group's heartbeat.
func announcedPull(t *testing.T, c *wire.Conn, group, topic string) *wire.Frame {
	t.Helper()
	return c.Call(t, wire.PullMessage, map[string]string{
		"consumerGroup": group, "topic": topic, "queueId": "0", "queueOffset": "0", "maxMsgNums": "32", "sysFlag": "0",
		"commitOffset": "0", "suspendTimeoutMillis": "0", "subVersion": "0", "expressionType": "TAG",
	}, nil)
}

// TestForbiddenTopic keeps a group from one topic (353) and lets it in again.
func TestForbiddenTopic(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	group := suite.Name(t, "group")
	first, second := suite.Name(t, "first"), suite.Name(t, "second")
	fill(t, c, first, 1)
	fill(t, c, second, 1)
	c.Heartbeat(t, wire.Member{ClientID: group, Group: group, Subscriptions: map[string]string{first: "*", second: "*"}})
	readable := func(topic, set string) bool {
		t.Helper()
		fields := map[string]string{"group": group, "topic": topic}
		if set != "" {
			fields["readable"] = set
		}
		answer := c.Call(t, codeForbidden, fields, nil)
		wantCode(t, "forbidden", answer, wire.Success)
		var body struct {
			Group, Topic string
			Readable     bool
		}
		if err := json.Unmarshal(answer.Body, &body); err != nil || body.Group != group || body.Topic != topic {
			t.Errorf("forbidden: %s, %v", answer.Body, err)
		}
		return body.Readable
	}
	if !readable(first, "") || readable(first, "false") || readable(first, "") || !readable(second, "") {
		t.Error("only the first topic shall be forbidden, once it is set")
	}
	got := announcedPull(t, c, group, first)
	wantCode(t, "pull of the forbidden topic", got, wire.NoPermission)
	if want := fmt.Sprintf("the consumer group[%s] is forbidden for topic[%s]", group, first); got.Remark != want {
		t.Errorf("remark %q, want %q", got.Remark, want)
	}
	wantCode(t, "pull of the other", announcedPull(t, c, group, second), wire.Success)

	readable(second, "false")
	if !readable(first, "true") {
		t.Error("the first topic is forbidden still")
	}
	wantCode(t, "pull of what is allowed again", announcedPull(t, c, group, first), wire.Success)
	other := announcedPull(t, c, group, second)
	suite.Differs(t, "cases/forbidden-by-topic", other.Code == wire.NoPermission, other.String())
}

// TestDeletedGroup leaves its offsets behind, unless they are to go with it.
func TestDeletedGroup(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	fill(t, c, topic, 5)
	for _, tc := range []struct {
		clean string
		code  int
	}{{"false", wire.Success}, {"true", wire.QueryNotFound}} {
		wire.Introduce(t, suite.Server().BrokerAddr, group, topic)
		wantCode(t, "commit", c.Commit(t, group, topic, 0, 3), wire.Success)
		answer := c.Call(t, codeDeleteGroup, map[string]string{"groupName": group, "cleanOffset": tc.clean}, nil)
		wantCode(t, "delete", answer, wire.Success)
		left := c.QueryOffset(t, group, topic, 0, map[string]string{"setZeroIfNotFound": "false"})
		wantCode(t, "offset of a group deleted with cleanOffset="+tc.clean, left, tc.code)
	}
	wantCode(t, "delete of an unknown group", c.Call(t, codeDeleteGroup, map[string]string{"groupName": suite.Name(t, "unknown")}, nil), wire.Success)
}

// TestCorrectionOffsets asks for the smallest offset of each queue among the groups of a topic (308).
func TestCorrectionOffsets(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, behind, ahead := suite.Name(t, "topic"), suite.Name(t, "behind"), suite.Name(t, "ahead")
	c.MustCreateTopic(t, topic, 1)
	for group, offset := range map[string]int64{behind: 2, ahead: 5} {
		wire.Introduce(t, suite.Server().BrokerAddr, group, topic)
		wantCode(t, "commit", c.Commit(t, group, topic, 0, offset), wire.Success)
	}
	ask := func(without, want string) {
		t.Helper()
		answer := c.Call(t, codeCorrectionOffset, map[string]string{"topic": topic, "compareGroup": "", "filterGroups": without}, nil)
		wantCode(t, "correction", answer, wire.Success)
		if got := strings.ReplaceAll(string(answer.Body), `"`, ""); got != want {
			t.Errorf("without %q: %s, want %s", without, answer.Body, want)
		}
	}
	// The real broker's keys are numbers, without quotes.
	ask("", "{correctionOffsets:{0:2}}")
	ask(behind, "{correctionOffsets:{0:5}}")
	kept := c.QueryOffset(t, behind, topic, 0, map[string]string{"setZeroIfNotFound": "false"})
	suite.Differs(t, "cases/correction-only-reads", kept.Code == wire.Success, kept.String())
}

// TestOwnOffsets commits for the group by which the broker remembers what it has done with half messages.
func TestOwnOffsets(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	answer := c.Commit(t, "CID_RMQ_SYS_TRANS", wire.HalfTopic, 0, 0)
	suite.Differs(t, "cases/own-offsets", answer.Code == wire.NoPermission, answer.String())
}
