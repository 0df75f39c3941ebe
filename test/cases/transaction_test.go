package cases

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestTransaction starts a broker that asks soon, and twice.
func TestTransaction(t *testing.T) {
	t.Parallel()
	server := peer.StartTarget(t, map[string]string{
		"transactionTimeOut": "1000", "transactionCheckInterval": "3000", "transactionCheckMax": "2",
	})
	for name, test := range map[string]func(*testing.T, *dealer){
		"checked and given up": checkedAndGivenUp, "immunity": immunityFirst, "fields": transactionFields,
		"refused": transactionRefused, "committed twice": committedTwice, "unknown": unknownHasNoAnswer, "delayed": delayedTransaction, "delayed by a timer": timerTransaction,
		"nobody to ask": nobodyToAsk,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &dealer{Conn: wire.Dial(t, server.BrokerAddr), group: suite.Name(t, "producers"), topic: suite.Name(t, "topic")}
			d.MustCreateTopic(t, d.topic, 1)
			d.HeartbeatProducer(t, suite.Name(t, "client"), d.group)
			test(t, d)
		})
	}
}

// dealer is a producer with a topic of its own.
type dealer struct {
	*wire.Conn
	group, topic string
}

func (d *dealer) prepare(t *testing.T, key string, properties ...string) wire.Half {
	t.Helper()
	return d.Prepare(t, d.topic, d.group, key+" "+d.topic, properties...)
}

// asked waits for a question.
func (d *dealer) asked(t *testing.T) wire.Question {
	t.Helper()
	q, ok := d.Question(t, d.group, slow)
	if !ok {
		t.Fatalf("no question within %v", slow)
	}
	return q
}

// givenUp waits for a message in TRANS_CHECK_MAX_TIME_TOPIC.
func (d *dealer) givenUp(t *testing.T, key string) (found wire.Message) {
	t.Helper()
	suite.Eventually(t, slow, key+" is given up", func() (ok bool) {
		found, ok = d.isGivenUp(t, key)
		return ok
	})
	return found
}

func (d *dealer) isGivenUp(t *testing.T, key string) (found wire.Message, ok bool) {
	t.Helper()
	// Until the first message is given up the topic does not exist.
	pulled, err := d.Pull(t.Context(), wire.Pull{Group: "TOOLS_CONSUMER", Topic: wire.TransCheckMaxTopic})
	if err != nil {
		return found, false
	}
	for _, m := range pulled.Messages {
		if string(m.Body) == key {
			return m, true
		}
	}
	return found, false
}

// checkedAndGivenUp is case BR-61: transactionCheckMax checks, counted from 1, then
// TRANS_CHECK_MAX_TIME_TOPIC, whence an operator may take the message.
func checkedAndGivenUp(t *testing.T, d *dealer) {
	h := d.prepare(t, "K")
	for i := 1; i <= 2; i++ {
		if q := d.asked(t); q.Message.Properties["TRANSACTION_CHECK_TIMES"] != fmt.Sprint(i) || q.Half.UniqKey != h.UniqKey {
			t.Errorf("question %d is number %s about %s", i, q.Message.Properties["TRANSACTION_CHECK_TIMES"], q.Half.UniqKey)
		}
	}
	m := d.givenUp(t, h.UniqKey)
	if m.Properties["TRANSACTION_CHECK_TIMES"] != "2" || m.Properties["REAL_TOPIC"] != d.topic || m.Properties["REAL_QID"] != "0" {
		t.Errorf("given up with %q", m.RawProperties)
	}
	if q, ok := d.Question(t, d.group, 4*time.Second); ok {
		t.Errorf("asked again about %s", q.Half.UniqKey)
	}
	if n := d.MaxOffset(t, d.topic, 0); n != 0 {
		t.Errorf("%d messages are in the topic, want none", n)
	}
	wantCode(t, "resume", d.Call(t, wire.ResumeCheckHalfMessage, map[string]string{"msgId": offsetID(t, d.Conn, m)}, nil), wire.Success)
	q := d.asked(t)
	if q.Message.Properties["TRANSACTION_CHECK_TIMES"] != "1" {
		t.Errorf("after it is taken up again: question %s", q.Message.Properties["TRANSACTION_CHECK_TIMES"])
	}
	wantCode(t, "commit", d.End(t, q.Half, wire.CommitTransaction, true), wire.Success)
	d.Settle(t, d.topic, 0, 1)
}

// offsetID is the offset message id of a stored message.
func offsetID(t *testing.T, c *wire.Conn, m wire.Message) string {
	t.Helper()
	port := m.StoreHost.Port()
	ip := m.StoreHost.Addr().As4()
	return fmt.Sprintf("%02X%02X%02X%02X%08X%016X", ip[0], ip[1], ip[2], ip[3], port, m.CommitLogOffset)
}

// immunityFirst is case BR-62: no check within the time that the producer asks for, and none of the
// checks that are its due is lost.
func immunityFirst(t *testing.T, d *dealer) {
	begun := time.Now()
	h := d.prepare(t, "K", "CHECK_IMMUNITY_TIME_IN_SECONDS", "8")
	early, n := false, 0
	gone := func() bool { _, gone := d.isGivenUp(t, h.UniqKey); return gone }
	for deadline := begun.Add(slow); !gone() && time.Now().Before(deadline); {
		for q, ok := d.Question(t, d.group, time.Second); ok; q, ok = d.Question(t, d.group, time.Second) {
			n++
			early = early || q.At.Sub(begun) < 8*time.Second
		}
	}
	if early {
		t.Error("asked before the time that the producer asked for")
	}
	suite.Differs(t, "cases/transaction-immunity", n == 2, fmt.Sprintf("%d checks", n))
	d.givenUp(t, h.UniqKey)
}

// transactionFields looks at everything that a question and a committed message carry.
func transactionFields(t *testing.T, d *dealer) {
	h := d.prepare(t, "K", "KEYS", "k", "TAGS", "A")
	if m, answer := d.View(t, h.CommitLogOffset); m.Topic != wire.HalfTopic || m.SysFlag != 0 || m.QueueID != 0 ||
		m.Properties["REAL_TOPIC"] != d.topic || m.Properties["REAL_QID"] != "0" || m.Properties["__transactionId__"] != h.UniqKey {
		t.Errorf("the half message is %+v, %v", m, answer)
	}
	q := d.asked(t)
	for name, want := range map[string]string{
		"topic": wire.HalfTopic, "msgId": h.UniqKey, "transactionId": h.UniqKey, "bname": "broker-a",
	} {
		if q.Header[name] != want {
			t.Errorf("header field %s is %q, want %q", name, q.Header[name], want)
		}
	}
	if m := q.Message; m.Topic != d.topic || m.QueueID != 0 || m.QueueOffset != q.Half.QueueOffset || m.CommitLogOffset != q.Half.CommitLogOffset || string(m.Body) != h.UniqKey {
		t.Errorf("asked about %+v", m)
	}
	wantCode(t, "commit", d.End(t, q.Half, wire.CommitTransaction, true), wire.Success)
	d.Settle(t, d.topic, 0, 1)
	m := d.PullAll(t, wire.Pull{Group: "G", Topic: d.topic})[0]
	if m.SysFlag != wire.CommitTransaction || m.PreparedOffset != q.Half.CommitLogOffset {
		t.Errorf("committed with sysFlag %d, prepared at %d, want %d and %d", m.SysFlag, m.PreparedOffset, wire.CommitTransaction, q.Half.CommitLogOffset)
	}
	var names []string
	for name := range m.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"CLUSTER", "KEYS", "MSG_REGION", "PGROUP", "TAGS", "TRACE_ON", "TRANSACTION_CHECK_TIMES", "TRAN_MSG", "UNIQ_KEY", "__transactionId__"}; !slices.Equal(without(names, "WAIT"), want) {
		t.Errorf("properties %q, want %q", names, want)
	}
}

// without is a list less one name: the real broker adds WAIT when it writes a message again.
func without(names []string, name string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return n == name })
}

// transactionRefused names a half message wrongly in every way.
func transactionRefused(t *testing.T, d *dealer) {
	h := d.prepare(t, "K")
	group, offset, log := h, h, h
	group.Group, offset.QueueOffset, log.CommitLogOffset = "Another", h.QueueOffset+100, 1<<40
	for remark, wrong := range map[string]wire.Half{
		"The producer group wrong": group, "The transaction state table offset wrong": offset, "Find prepared transaction message failed": log,
	} {
		for _, how := range []int{wire.CommitTransaction, wire.RollbackTransaction} {
			if answer := d.End(t, wrong, how, false); answer.Code != wire.SystemError || answer.Remark != remark {
				t.Errorf("got %v, want code 1, %q", answer, remark)
			}
		}
	}
	wantCode(t, "roll back", d.End(t, h, wire.RollbackTransaction, false), wire.Success)
	if n := d.MaxOffset(t, d.topic, 0); n != 0 {
		t.Errorf("%d messages are in the topic, want none", n)
	}
}

// committedTwice repeats a commit.
func committedTwice(t *testing.T, d *dealer) {
	h := d.prepare(t, "K")
	for range 2 {
		wantCode(t, "commit", d.End(t, h, wire.CommitTransaction, false), wire.Success)
	}
	const second = 5 * time.Second // for one that must not come
	n := d.arrived(t, 2, second)
	suite.Differs(t, "cases/transaction-committed-twice", n == 1, fmt.Sprintf("%d messages", n))
}

// unknownHasNoAnswer says neither, and gets no answer; the half message stays open.
func unknownHasNoAnswer(t *testing.T, d *dealer) {
	h := d.prepare(t, "K")
	for _, checked := range []string{"false", "true"} {
		if err := d.Oneway(wire.EndTransaction, map[string]string{
			"producerGroup": h.Group, "tranStateTableOffset": fmt.Sprint(h.QueueOffset), "commitLogOffset": fmt.Sprint(h.CommitLogOffset),
			"commitOrRollback": "0", "fromTransactionCheck": checked,
		}, nil); err != nil {
			t.Fatal(err)
		}
	}
	q := d.asked(t)
	wantCode(t, "roll back", d.End(t, q.Half, wire.RollbackTransaction, true), wire.Success)
}

// delayedTransaction has a delay that begins with the commit.
func delayedTransaction(t *testing.T, d *dealer) {
	h := d.prepare(t, "K", "DELAY", "1")
	wantCode(t, "commit", d.End(t, h, wire.CommitTransaction, false), wire.Success)
	patience := slow
	if peer.TargetKind() == peer.Real {
		patience = 5 * time.Second
	}
	n := d.arrived(t, 1, patience)
	suite.Differs(t, "cases/transaction-delayed", n == 1, fmt.Sprintf("%d messages", n))
}

// arrived waits for so many messages in the topic, and returns how many there are.
func (d *dealer) arrived(t *testing.T, want int64, patience time.Duration) (n int64) {
	t.Helper()
	waited(patience, func() bool {
		n = d.MaxOffset(t, d.topic, 0)
		return n >= want
	})
	return n
}

// timerTransaction has an any-time delay that begins with the commit. The real broker puts the half
// message among its timers, so that no commit finds it.
func timerTransaction(t *testing.T, d *dealer) {
	h := d.prepare(t, "K", "TIMER_DELAY_SEC", "1")
	answer := d.End(t, h, wire.CommitTransaction, false)
	patience := slow
	if peer.TargetKind() == peer.Real {
		patience = 5 * time.Second
	}
	n := d.arrived(t, 1, patience)
	suite.Differs(t, "cases/transaction-timer", answer.Code == wire.Success && n == 1, fmt.Sprintf("%v, %d messages", answer, n))
}

// nobodyToAsk has no producer of its group online for as long as transactionCheckMax checks take.
func nobodyToAsk(t *testing.T, d *dealer) {
	d.group = suite.Name(t, "nobody")
	h := d.prepare(t, "K")
	const checks = 15 * time.Second // longer than transactionCheckMax intervals of the real broker's
	patience := checks
	if peer.TargetKind() == peer.Real {
		patience = slow
	}
	gone := waited(patience, func() bool { _, gone := d.isGivenUp(t, h.UniqKey); return gone })
	suite.Differs(t, "cases/checks-need-a-producer", !gone, "the message is in TRANS_CHECK_MAX_TIME_TOPIC")
	if gone {
		return
	}
	d.HeartbeatProducer(t, suite.Name(t, "client"), d.group)
	q := d.asked(t)
	if q.Message.Properties["TRANSACTION_CHECK_TIMES"] != "1" {
		t.Errorf("the first question is number %s", q.Message.Properties["TRANSACTION_CHECK_TIMES"])
	}
	wantCode(t, "commit", d.End(t, q.Half, wire.CommitTransaction, true), wire.Success)
	d.Settle(t, d.topic, 0, 1)
}

// TestTransaction_OverARestart asks the producer about what it left open before, on its new connection.
func TestTransaction_OverARestart(t *testing.T) {
	t.Parallel()
	server := peer.StartTarget(t, map[string]string{"transactionTimeOut": "1000", "transactionCheckInterval": "3000"})
	d := &dealer{Conn: wire.Dial(t, server.BrokerAddr), group: suite.Name(t, "producers"), topic: suite.Name(t, "topic")}
	d.MustCreateTopic(t, d.topic, 1)
	open := d.prepare(t, "open")
	d.Close()
	server.Restart()
	d.Conn = wire.Dial(t, server.BrokerAddr)
	d.HeartbeatProducer(t, suite.Name(t, "client"), d.group)
	q := d.asked(t)
	if q.Half.UniqKey != open.UniqKey || q.Half.QueueOffset < open.QueueOffset {
		t.Errorf("asked about %+v, want %+v", q.Half, open)
	}
	wantCode(t, "commit", d.End(t, q.Half, wire.CommitTransaction, true), wire.Success)
	d.Settle(t, d.topic, 0, 1)
}
