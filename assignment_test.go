package wheelmq_test

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/remoting"
)

// A client that leaves the division of queues to a broker gets those of all brokers from any of them.
func TestAssignment_OfTwoBrokers(t *testing.T) {
	first := start(t, t.TempDir())
	defer first.Close(t.Context())
	second := start(t, t.TempDir(), "brokerName=broker-b", "namesrvAddr="+first.NameServerAddr())
	defer second.Close(t.Context())
	for _, addr := range []string{first.BrokerAddr(), second.BrokerAddr()} {
		call(t, addr, remoting.UpdateAndCreateTopic, map[string]string{
			"topic": "shared", "defaultTopic": "TBW102", "readQueueNums": "1", "writeQueueNums": "1", "perm": "6", "topicFilterType": "SINGLE_TAG",
			"topicSysFlag": "0", "order": "false",
		}, "")
	}
	const body = `{"clientId":"c","consumerGroup":"g","messageModel":"BROADCASTING","strategyName":"AVG","topic":"shared"}`
	for _, addr := range []string{first.BrokerAddr(), second.BrokerAddr()} {
		var answer string
		await.Until(t, "both brokers are known at "+addr, func() bool {
			answer = string(call(t, addr, remoting.QueryAssignment, nil, body).Body)
			return strings.Contains(answer, `"broker-a"`) && strings.Contains(answer, `"broker-b"`)
		})
		if n := strings.Count(answer, `"messageQueue":`); n != 2 || !strings.Contains(answer, `"broker-b"`) {
			t.Errorf("%s", answer)
		}
	}
}
