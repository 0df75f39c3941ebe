package cases

import (
	"testing"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestPullBeforeItsHeartbeat is how a push consumer of the Java kind pulls whose heartbeat has not come
// yet: its subscription is not in the request. It looks at the tags of what it gets itself.
func TestPullBeforeItsHeartbeat(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 1)
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("x"), Properties: wire.Properties("TAGS", "a")})
	c.Settle(t, topic, 0, 1)
	pull := func(kind string) *wire.Frame {
		return c.Call(t, wire.PullMessage, map[string]string{
			"consumerGroup": group, "topic": topic, "queueId": "0", "queueOffset": "0", "maxMsgNums": "32", "sysFlag": "2",
			"commitOffset": "0", "suspendTimeoutMillis": "15000", "subVersion": "1796003240101", "expressionType": kind,
		}, nil)
	}
	got := pull("TAG")
	suite.Differs(t, "cases/pull-before-heartbeat", got.Code == wire.Success, got.String())
	wantCode(t, "a pull that filters by SQL", pull("SQL92"), wire.SubscriptionNotExist)
}
