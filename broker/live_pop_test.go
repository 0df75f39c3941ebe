package broker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
)

// trySend sends a message to queue 0 of topic T, and returns the answer.
func (l *lab) trySend(body string) *remoting.Command {
	l.t.Helper()
	var ext remoting.ExtWriter
	req := remoting.SendMessageRequest{
		ProducerGroup: []byte("P"), Topic: []byte("T"), DefaultTopic: []byte("TBW102"), DefaultTopicQueueNums: 1,
	}
	req.EncodeV2(&ext)
	return l.ask(remoting.SendMessageV2, &ext, []byte(body))
}

// TestLiveConfig_MaxMessageSize: it is lowered and raised at once, as far as the log's files go; a refusal
// names it, and what was accepted is delivered whatever it has become.
func TestLiveConfig_MaxMessageSize(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	defer l.close()
	body := strings.Repeat("x", 2000)
	l.send("T", 0, body, 1)
	l.mustConfigure("maxMessageSize=1999")
	if reply := l.trySend(body); reply.Code != remoting.MessageIllegal || !strings.Contains(reply.Remark, "length limit 1999B,") {
		t.Errorf("over the limit: code %d: %s", reply.Code, reply.Remark)
	}
	if reply := l.trySend(body[1:]); reply.Code != remoting.Success {
		t.Errorf("at the limit: code %d: %s", reply.Code, reply.Remark)
	}
	l.advance(time.Second)
	if got := len(l.bodies("T")); got != 2 {
		t.Errorf("%d messages in T, want that of before, which was delayed, too", got)
	}
	l.mustConfigure("maxMessageSize=2000")
	if reply := l.trySend(body); reply.Code != remoting.Success {
		t.Errorf("raised: code %d: %s", reply.Code, reply.Remark)
	}
	if reply := l.configure("maxMessageSize=8388608"); reply.Code != remoting.InvalidParameter || !strings.Contains(reply.Remark, "mappedFileSizeCommitLog") {
		t.Errorf("more than a log file holds: code %d: %s", reply.Code, reply.Remark)
	}
}

// popCode pops from queue 0 without waiting and returns the code of the answer.
func (l *lab) popCode(group string, most int32) int32 {
	l.t.Helper()
	var ext remoting.ExtWriter
	req := remoting.PopMessageRequest{ConsumerGroup: []byte(group), Topic: []byte("T"), MaxMsgNums: most, InvisibleTime: 60_000}
	req.Encode(&ext)
	return l.ask(remoting.PopMessage, &ext, nil).Code
}

// TestLiveConfig_PopThreshold: the threshold counts what is in flight already, and ends at once.
func TestLiveConfig_PopThreshold(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	defer l.close()
	for range 4 {
		l.send("T", 0, "x", 0)
	}
	if code := l.popCode("G", 2); code != remoting.Success {
		t.Fatalf("code %d", code)
	}
	l.mustConfigure("enablePopMessageThreshold=true", "popInflightMessageThreshold=1")
	if code := l.popCode("G", 1); code == remoting.Success {
		t.Error("two are in flight, one may be, and yet there is another")
	}
	l.mustConfigure("popInflightMessageThreshold=2")
	if code := l.popCode("G", 1); code != remoting.Success {
		t.Errorf("two are in flight, three may be: code %d", code)
	}
	l.mustConfigure("enablePopMessageThreshold=false")
	if code := l.popCode("G", 1); code != remoting.Success {
		t.Errorf("any number may be: code %d", code)
	}
}

// TestLiveConfig_RetryTopics: what comes back goes to the retry topic that enableRetryTopicV2 says then.
func TestLiveConfig_RetryTopics(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	defer l.close()
	for _, step := range []struct{ v2, retry string }{{"false", "%RETRY%G_T"}, {"true", "%RETRY%G+T"}} {
		l.mustConfigure("enableRetryTopicV2=" + step.v2)
		l.send("T", 0, "v2="+step.v2, 0)
		if code := l.popCode("G", 1); code != remoting.Success {
			t.Fatalf("code %d", code)
		}
		l.advance(time.Minute)
		if got := l.bodies(step.retry); len(got) != 1 || got[0] != "v2="+step.v2 {
			t.Errorf("%s holds %q", step.retry, got)
		}
		// In flight again, so that the next pop is of the topic.
		if code := l.popCode("G", 1); code != remoting.Success {
			t.Fatalf("code %d", code)
		}
	}
}

// TestLiveConfig_Assignment: how groups consume that nobody set, and whether queues are divided.
func TestLiveConfig_Assignment(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	defer l.close()
	l.send("T", 0, "creates the topic", 0)
	ask := func() string {
		body := `{"clientId":"c","consumerGroup":"G","messageModel":"CLUSTERING","strategyName":"AVG","topic":"T"}`
		return string(l.call(remoting.QueryAssignment, nil, []byte(body)).Body)
	}
	if got := ask(); got != "{}" {
		t.Errorf("a group that is not online is assigned %s", got)
	}
	l.mustConfigure("serverLoadBalancerEnable=false")
	if got := ask(); !strings.Contains(got, `"mode":"PULL"`) {
		t.Errorf("not divided: %s", got)
	}
	l.mustConfigure("defaultMessageRequestMode=POP", "defaultPopShareQueueNum=1")
	if got := ask(); !strings.Contains(got, `"mode":"POP"`) {
		t.Errorf("popping: %s", got)
	}
}
