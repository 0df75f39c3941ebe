package broker_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// TestTransaction_AdmittedIsCommitted takes no half message that could not be committed for the
// length of its properties, whatever delays it.
func TestTransaction_AdmittedIsCommitted(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.config.StartDeliverTimeEnable = true
	l.open(startMs)
	t.Cleanup(l.close)
	p := l.produce("P")
	at := strconv.FormatInt(startMs+50_000, 10)
	for _, asks := range [][2]string{
		{"KEYS", "none"}, {"DELAY", "2"}, {"TIMER_DELAY_MS", "5000"}, {"TIMER_DELAY_SEC", "5"}, {"TIMER_DELIVER_MS", at}, {"__STARTDELIVERTIME", at},
	} {
		length := 32_280
		for ; ; length += 7 {
			reply := p.trySend("T", "K", "X", strings.Repeat("x", length), asks[0], asks[1])
			if reply.Code == remoting.MessageIllegal {
				break
			}
			if reply.Code != remoting.Success {
				t.Fatalf("%v: code %d, %s", asks, reply.Code, reply.Remark)
			}
			p.commit(p.sent(reply, "K"))
		}
		if length < 32_300 {
			t.Errorf("%v: %d bytes are refused", asks, length)
		}
	}
	if reply := p.trySend("T", "K", "__STARTDELIVERTIME", strconv.FormatInt(startMs+1<<40, 10)); reply.Code != remoting.MessageIllegal {
		t.Errorf("an instant too far ahead: code %d", reply.Code)
	}
}

// TestTransaction_ProgressIsTheBrokers lets nobody but the broker say which half messages have ended.
func TestTransaction_ProgressIsTheBrokers(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	t.Cleanup(func() { l.close() })
	p := l.produce("P")
	h := p.prepare("T", "K")
	for _, req := range []struct {
		code   int32
		fields []string
	}{
		{remoting.UpdateConsumerOffset, []string{"consumerGroup", "CID_RMQ_SYS_TRANS", "topic", message.TopicTransHalf, "queueId", "0", "commitOffset", "1"}},
		{remoting.InvokeBrokerToResetOffset, []string{"group", "CID_RMQ_SYS_TRANS", "topic", message.TopicTransHalf, "timestamp", "-1", "isForce", "true"}},
		{remoting.CloneGroupOffset, []string{"srcGroup", "G", "destGroup", "CID_RMQ_SYS_TRANS", "topic", message.TopicTransHalf, "offline", "true"}},
	} {
		var ext remoting.ExtWriter
		for i := 0; i < len(req.fields); i += 2 {
			ext.String(req.fields[i], req.fields[i+1])
		}
		if reply := p.do(req.code, &ext, nil); reply.Code != remoting.NoPermission {
			t.Errorf("request %d: code %d, %s", req.code, reply.Code, reply.Remark)
		}
	}
	if err := l.broker.Save(); err != nil {
		t.Fatal(err)
	}
	l.kill()
	p = l.produce("P")
	p.commit(h)
	l.want("T", "K")
}

// TestTransaction_EndsOnce has producers commit what is just being given up: it is one or the other.
func TestTransaction_EndsOnce(t *testing.T) {
	t.Parallel()
	const rounds, each = 40, 50
	l := newLab(t)
	l.config.TransactionCheckMax, l.config.TransactionTimeOut, l.config.TransactionCheckInterval = 1, 1000, 1000
	l.open(startMs)
	t.Cleanup(l.close)
	p := l.produce("P")
	for round := range rounds {
		halves := make([]half, each)
		for i := range halves {
			halves[i] = p.prepare("T", strconv.Itoa(round*each+i))
		}
		l.advance(1500 * time.Millisecond)
		var wg sync.WaitGroup
		wg.Go(func() {
			ctx, cancel := within()
			defer cancel()
			if _, err := l.broker.VirtualTime().Advance(ctx, time.Second); err != nil {
				t.Error(err)
			}
		})
		for _, h := range halves {
			p.end(h, message.SysFlagCommit, true)
		}
		wg.Wait()
	}
	l.advance(time.Minute)
	times := make(map[string]int)
	for _, topic := range []string{"T", message.TopicTransCheckMax} {
		for _, key := range l.bodies(topic) {
			times[key]++
		}
		t.Logf("%s holds %d", topic, len(l.bodies(topic)))
	}
	for key, n := range times {
		if n != 1 {
			t.Errorf("%s ended %d times", key, n)
		}
	}
	if len(times) != rounds*each {
		t.Errorf("%d ended, want %d", len(times), rounds*each)
	}
}

// TestTransaction_GivenUpWithSpace tries again what a full disk keeps from being given up, without a
// line in the log for each.
func TestTransaction_GivenUpWithSpace(t *testing.T) {
	t.Parallel()
	const halves = 60
	l := newLab(t)
	log, lines := test.NewNullLogger()
	l.log = log
	l.config.TransactionCheckMax = 1
	l.config.MappedFileSizeCommitLog, l.config.MaxMessageSize = 1<<20, 1<<16
	l.open(startMs)
	t.Cleanup(l.close)
	p := l.produce("P")
	for range halves {
		p.prepare("T", strings.Repeat("b", 15_000))
	}
	l.advance(7 * time.Second)
	l.disk.SetLimit(1)
	l.advance(2 * time.Minute)
	if n := l.broker.OpenTransactions(); n != halves {
		t.Errorf("%d are open while the disk is full, want %d", n, halves)
	}
	refused := 0
	for _, line := range lines.AllEntries() {
		if line.Level == logrus.ErrorLevel && strings.Contains(line.Message, "given up") {
			refused++
		}
	}
	if refused == 0 || refused > 20 {
		t.Errorf("%d lines about it", refused)
	}
	l.disk.SetLimit(0)
	l.advance(time.Minute)
	if n := len(l.bodies(message.TopicTransCheckMax)); n != halves || l.broker.OpenTransactions() != 0 {
		t.Errorf("%d are given up, want %d", n, halves)
	}
}
