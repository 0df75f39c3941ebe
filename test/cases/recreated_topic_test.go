package cases

import (
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// codeDeleteTopic is DELETE_TOPIC_IN_BROKER.
const codeDeleteTopic = 215

// TestTopicThatIsCreatedAgain_IsReadFromItsBeginning has a consumer online all the time, which
// remembers its place in the topic that is no more.
func TestTopicThatIsCreatedAgain_IsReadFromItsBeginning(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	o := consumeHistory(t, suite.Server(), c)
	wantCode(t, "delete", c.Call(t, codeDeleteTopic, map[string]string{"topic": o.topic}, nil), wire.Success)
	wantCode(t, "offset of the deleted topic",
		c.QueryOffset(t, o.group, o.topic, 0, map[string]string{"setZeroIfNotFound": "false"}), wire.QueryNotFound)
	c.MustCreateTopic(t, o.topic, 1)
	const messages = 3
	for range messages {
		c.MustSend(t, wire.Send{Topic: o.topic, Body: []byte("y")})
	}
	all := waited(time.Minute, func() bool { return o.consumed.Load() == history+messages })
	transcript := "the messages of the new topic are consumed"
	if !all {
		transcript = "the messages of the new topic are passed over"
	}
	suite.Differs(t, "cases/recreated-topic", all, transcript)
	t.Logf("%s: consumed %d of %d", peer.TargetKind(), o.consumed.Load()-history, messages)
}

// waited tells whether something became true within a time.
func waited(limit time.Duration, ok func() bool) bool {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return true
		}
	}
	return ok()
}
