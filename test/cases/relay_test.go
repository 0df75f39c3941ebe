package cases

import (
	"fmt"
	"strings"
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

// Request codes that the broker relays to a client (RocketMQ 5.5.0).
const (
	codeConsumerStatus  = 223
	codeRunningInfo     = 307
	codeConsumeDirectly = 309
)

// online is a Go consumer that has consumed and committed ten messages of queue 0.
type online struct {
	topic, group, clientID string
	lastID                 string // the offset message id of the last message
	consumed               atomic.Int64
}

const history = 10

func consumeHistory(t *testing.T, target *peer.Target, c *wire.Conn) *online {
	t.Helper()
	goclient.Quiet()
	o := &online{topic: suite.Name(t, "topic"), group: suite.Name(t, "group")}
	c.MustCreateTopic(t, o.topic, 1)
	for range history {
		o.lastID = c.MustSend(t, wire.Send{Topic: o.topic, Body: []byte("x")}).MsgID
	}
	goclient.Consumer(t, target.NameServerAddr, o.group, o.topic, func(*primitive.MessageExt) consumer.ConsumeResult {
		o.consumed.Add(1)
		return consumer.ConsumeSuccess
	})
	suite.Eventually(t, slow, "the messages are consumed and committed", func() bool {
		answer := c.QueryOffset(t, o.group, o.topic, 0, map[string]string{"setZeroIfNotFound": "false"})
		return answer.Code == wire.Success && answer.Int64(t, "offset") == history
	})
	ids, _ := c.ConsumerIDs(t, o.group)
	if len(ids) != 1 {
		t.Fatalf("members %v, want one", ids)
	}
	o.clientID = ids[0]
	return o
}

// TestRelays ask a Go consumer through the broker what it has, how far it is, and to consume one
// message now.
func TestRelays(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	o := consumeHistory(t, suite.Server(), c)
	who := map[string]string{"consumerGroup": o.group, "clientId": o.clientID, "jstackEnable": "false"}
	answer := c.Call(t, codeRunningInfo, who, nil)
	wantCode(t, "running info", answer, wire.Success)
	// The Go client cannot spell a rate of no messages, and says so.
	if !strings.Contains(string(answer.Body), `"mqTable":`) && answer.Remark != "json marshal error: json: unsupported value: NaN" {
		t.Errorf("the running info is %s %q", answer.Body, answer.Remark)
	}

	before := o.consumed.Load()
	answer = c.Call(t, codeConsumeDirectly, map[string]string{
		"consumerGroup": o.group, "clientId": o.clientID, "msgId": o.lastID, "topic": o.topic,
	}, nil)
	wantCode(t, "consume directly", answer, wire.Success)
	if got := o.consumed.Load() - before; got != 1 || !strings.Contains(string(answer.Body), `"consumeResult"`) {
		t.Errorf("%d messages were consumed, answered %s", got, answer.Body)
	}

	answer = c.Call(t, codeConsumerStatus, map[string]string{"group": o.group, "topic": o.topic}, nil)
	wantCode(t, "status", answer, wire.Success)
	want := fmt.Sprintf(`{"consumerTable":{"%s":{{"brokerName":"broker-a","queueId":0,"topic":"%s"}:%d}},"messageQueueTable":{}}`, o.clientID, o.topic, history)
	if string(answer.Body) != want {
		t.Errorf("status %s, want %s", answer.Body, want)
	}

	who["clientId"] = "nobody"
	answer = c.Call(t, codeRunningInfo, who, nil)
	wantCode(t, "of a client that is not there", answer, wire.SystemError)
	if want := fmt.Sprintf("The Consumer <%s> <nobody> not online", o.group); answer.Remark != want {
		t.Errorf("remark %q, want %q", answer.Remark, want)
	}
}

// TestRelay_OfASilentClient waits for the time that a client has to answer.
func TestRelay_OfASilentClient(t *testing.T) {
	t.Parallel()
	silent, c := dialBroker(t), dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 1)
	join(t, silent, group, topic)
	began := time.Now()
	answer := c.Call(t, codeRunningInfo, map[string]string{"consumerGroup": group, "clientId": "127.0.0.1@" + group, "jstackEnable": "false"}, nil)
	wantCode(t, "of a silent client", answer, 207)
	if took := time.Since(began); took < 9*time.Second {
		t.Errorf("given up after %v, want 10 s", took)
	}
}

// TestPushedReset is a reset as it was before RocketMQ 5.1: the offsets are pushed to the clients,
// which go on from there after 10 s.
func TestPushedReset(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, map[string]string{"useServerSideResetOffset": "false"})
	c := wire.Dial(t, target.BrokerAddr)
	o := consumeHistory(t, target, c)
	answer := reset(t, c, o.group, o.topic, 0)
	wantCode(t, "reset", answer, wire.Success)
	if want := fmt.Sprintf(`{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"%s"}:0}}`, o.topic); string(answer.Body) != want {
		t.Errorf("reset %s, want %s", answer.Body, want)
	}
	wantOffset(t, c, "at the broker", o.group, o.topic, history)
	suite.Eventually(t, slow, "the messages are consumed again", func() bool { return o.consumed.Load() == 2*history })

	answer = reset(t, c, "nobody", o.topic, 0)
	wantCode(t, "reset of a group without offsets", answer, wire.SystemError)
	if answer.Remark != "THe consumer group <nobody> not exist" {
		t.Errorf("remark %q", answer.Remark)
	}
	offline := suite.Name(t, "offline")
	wire.Introduce(t, target.BrokerAddr, offline, o.topic)
	wantCode(t, "commit", c.Commit(t, offline, o.topic, 0, 3), wire.Success)
	wantCode(t, "reset of a group that is offline", reset(t, c, offline, o.topic, 0), wire.ConsumerNotOnline)
}
