package broker_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// configure changes keys while the broker runs, and returns the answer.
func (l *lab) configure(lines ...string) *remoting.Command {
	l.t.Helper()
	return l.ask(remoting.UpdateBrokerConfig, nil, []byte(strings.Join(lines, "\n")))
}

func (l *lab) mustConfigure(lines ...string) {
	l.t.Helper()
	if reply := l.configure(lines...); reply.Code != remoting.Success {
		l.t.Fatalf("%q: code %d: %s", lines, reply.Code, reply.Remark)
	}
}

// otherValues are values for live keys whose default is not the only one that fits every test below.
var otherValues = map[string]string{"messageDelayLevel": "1s 5s", "deleteWhen": "03", "brokerPermission": "4", "popFromRetryProbabilityForPriority": "50", "defaultMessageRequestMode": "POP", "defaultPopShareQueueNum": "3"}

// TestLiveConfig_EveryKey: each key that is marked live can be changed, shows its value at once (26),
// and has it after a restart.
func TestLiveConfig_EveryKey(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	want := make(map[string]string)
	for _, k := range config.Keys() {
		if !k.Live {
			continue
		}
		value := otherValues[k.Name]
		if n, err := strconv.ParseInt(k.Default, 10, 64); value == "" && err == nil {
			value = strconv.FormatInt(n-1, 10)
		} else if b, err := strconv.ParseBool(k.Default); value == "" && err == nil {
			value = strconv.FormatBool(!b)
		}
		l.mustConfigure(k.Name + "=" + value)
		want[k.Name] = value
	}
	check := func(when string) {
		t.Helper()
		pairs, err := config.ParseProperties(string(l.call(remoting.GetBrokerConfig, nil, nil).Body))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pairs {
			if value, changed := want[p.Key]; changed && p.Value != value {
				t.Errorf("%s: %s=%s, want %s", when, p.Key, p.Value, value)
			}
		}
	}
	check("at once")
	l.close()
	l.open(startMs)
	check("after a restart")
	l.close()
	l.config.FileReservedTime, want["fileReservedTime"] = 100, "100"
	l.open(startMs)
	defer l.close()
	check("configured anew")
}

// TestLiveConfig_DelayLevels: what waits keeps its instant, what comes gets the new delay, and a level
// more is served at once.
func TestLiveConfig_DelayLevels(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.config.MessageDelayLevel = "10s 20s"
	l.open(startMs)
	defer l.close()
	l.send("T", 0, "old 1", 1)
	l.send("T", 0, "clamped to 2", 3)
	l.mustConfigure("messageDelayLevel=2s 40s 5s")
	l.send("T", 0, "new 1", 1)
	l.send("T", 0, "new 3", 3)
	for _, step := range []struct {
		by   time.Duration
		want []string
	}{
		{1999 * time.Millisecond, nil},
		{time.Millisecond, []string{"new 1"}},
		{3 * time.Second, []string{"new 1", "new 3"}},
		{5 * time.Second, []string{"new 1", "new 3", "old 1"}},
		{10 * time.Second, []string{"new 1", "new 3", "old 1", "clamped to 2"}},
	} {
		l.advance(step.by)
		if got := fmt.Sprint(l.bodies("T")); got != fmt.Sprint(step.want) {
			t.Errorf("%v on: %s, want %q", step.by, got, step.want)
		}
	}
	if reply := l.configure("messageDelayLevel=1s 2x"); reply.Code != remoting.InvalidParameter || !strings.Contains(reply.Remark, "2x") {
		t.Errorf("code %d: %s", reply.Code, reply.Remark)
	}
	if reply := l.configure("messageDelayLevel=" + strings.TrimSpace(strings.Repeat("1s ", 19))); reply.Code != remoting.InvalidParameter || !strings.Contains(reply.Remark, "restart") {
		t.Errorf("19 levels: code %d: %s", reply.Code, reply.Remark)
	}
}

// TestLiveConfig_TopicsAndPermission: routes and automatic creation follow.
func TestLiveConfig_TopicsAndPermission(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	defer l.close()
	var told []string
	l.broker.Topics().OnChange(func(changed []*topic.Config, deleted []string) {
		told = append(told, fmt.Sprint(len(changed) > 0, deleted))
	})
	version := l.broker.Topics().DataVersion()
	l.mustConfigure("brokerPermission=4")
	if len(told) != 1 || l.broker.Topics().DataVersion().Counter == version.Counter || l.broker.Config().BrokerPermission != 4 {
		t.Errorf("told %q: name servers hear of a permission at once, under a new version", told)
	}
	if got := l.gauge("rocketmq_broker_permission", nil); got != 4 {
		t.Errorf("rocketmq_broker_permission is %v, want 4", got)
	}
	l.mustConfigure("defaultTopicQueueNums=3")
	if c := l.broker.Topics().GetString(message.TopicAutoCreate); c == nil || c.WriteQueueNums != 3 {
		t.Errorf("the topic that others inherit from is %+v, want 3 queues", c)
	}
	l.mustConfigure("autoCreateTopicEnable=false", "autoCreateSubscriptionGroup=false")
	if c := l.broker.Topics().GetString(message.TopicAutoCreate); c != nil {
		t.Errorf("the topic that others inherit from is %+v, want none", c)
	}
	l.mustConfigure("autoCreateTopicEnable=true")
	l.send("T", 0, "creates the topic", 0)
	if c := l.broker.Topics().GetString("T"); c == nil || c.WriteQueueNums != 2 {
		t.Errorf("T is %+v", c)
	}
}

// TestLiveConfig_Transactions: half messages that come are asked about by the new times, and are given up by the
// new number of questions.
func TestLiveConfig_Transactions(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.config.TransactionTimeOut, l.config.TransactionCheckInterval, l.config.TransactionCheckMax = 60_000, 60_000, 15
	l.open(startMs)
	defer l.close()
	p := l.produce("P")
	l.mustConfigure("transactionTimeOut=2000", "transactionCheckInterval=3000", "transactionCheckMax=2")
	p.prepare("T", "open")
	for _, step := range []struct {
		by    time.Duration
		asked int
	}{{1999 * time.Millisecond, 0}, {time.Millisecond, 1}, {2999 * time.Millisecond, 0}, {time.Millisecond, 1}, {time.Minute, 0}} {
		l.advance(step.by)
		if got := len(p.questions()); got != step.asked {
			t.Errorf("%v on: %d questions, want %d", step.by, got, step.asked)
		}
	}
	if got := l.broker.OpenTransactions(); got != 0 {
		t.Errorf("%d transactions are open", got)
	}
}

// TestLiveConfig_Trace: producers are told at once whether to trace.
func TestLiveConfig_Trace(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	defer l.close()
	p := l.produce("P")
	for _, on := range []string{"true", "false", "true"} {
		l.mustConfigure("traceOn=" + on)
		reply := p.trySend("T", "key"+on)
		if got, _ := reply.Ext.Get("TRACE_ON"); reply.Code != remoting.Success || string(got) != on {
			t.Errorf("code %d, TRACE_ON %q, want %s", reply.Code, got, on)
		}
	}
}
