package broker_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/broker/virtualtime"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// bodies are the bodies of a topic's messages, queue by queue.
func (l *lab) bodies(topic string) (list []string) {
	l.t.Helper()
	if err := l.broker.EachMessage(topic, func(v *message.View) error {
		list = append(list, string(v.Body))
		return nil
	}); err != nil {
		l.t.Fatal(err)
	}
	return list
}

// want fails the test unless a topic holds just these messages.
func (l *lab) want(topic string, bodies ...string) {
	l.t.Helper()
	if got := l.bodies(topic); !slices.Equal(got, bodies) {
		l.t.Fatalf("topic %s holds %q, want %q", topic, got, bodies)
	}
}

func (l *lab) advance(d time.Duration) {
	l.t.Helper()
	ctx, cancel := within()
	defer cancel()
	if _, err := l.broker.VirtualTime().Advance(ctx, d); err != nil {
		l.t.Fatal(err)
	}
}

// kill has a new broker take over what a killed process leaves. Under the race detector, which sees
// that what is just being written is read, it is a restart.
func (l *lab) kill() {
	l.t.Helper()
	if raced {
		l.restart()
		return
	}
	disk := l.disk.Killed()
	l.close()
	l.disk = disk
	l.open(0)
}

func (l *lab) restart() {
	l.t.Helper()
	l.close()
	l.open(0)
}

// TestTransaction_Ends stores what is committed once, whatever is repeated and whenever, and nothing
// else.
func TestTransaction_Ends(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	t.Cleanup(func() { l.close() })
	p := l.produce("P")
	// The first record of the log.
	first := p.prepare("T", "first")
	yes, no := p.prepare("T", "yes", "TAGS", "A", "__WMQ_SRC", "forged"), p.prepare("T", "no")
	l.want("T")
	p.commit(first)
	p.commit(yes)
	p.rollback(no)
	p.commit(yes)
	p.commit(no)
	l.want("T", "first", "yes")
	l.kill()
	// Nobody has said yet that it was rolled back.
	p = l.produce("P")
	p.commit(first)
	p.commit(yes)
	p.rollback(yes)
	l.restart()
	p = l.produce("P")
	p.commit(first)
	p.commit(yes)
	l.advance(time.Hour)
	l.want("T", "first", "yes")
	for _, q := range p.questions() {
		if q.body != "no" {
			t.Errorf("asked about %s", q.body)
		}
	}
}

// TestTransaction_Committed has the fields and properties that the real broker's has.
func TestTransaction_Committed(t *testing.T) {
	t.Parallel()
	l := opened(t)
	p := l.produce("P")
	h := p.prepare("T", "K1", "KEYS", "k", "REAL_TOPIC", "Forged", "TRANSACTION_CHECK_TIMES", "9")
	p.commit(h)
	if err := l.broker.EachMessage("T", func(v *message.View) error {
		if v.SysFlag != message.SysFlagCommit || v.PreparedTransactionOffset != h.commitLogOffset {
			t.Errorf("sysFlag %d, prepared at %d, want 8 and %d", v.SysFlag, v.PreparedTransactionOffset, h.commitLogOffset)
		}
		got := make(map[string]string)
		message.PropertyEach(v.Properties, func(name, value []byte) { got[string(name)] = string(value) })
		for name, want := range map[string]string{
			"TRAN_MSG": "true", "PGROUP": "P", "UNIQ_KEY": "K1", "__transactionId__": "K1", "KEYS": "k",
			"REAL_TOPIC": "", "REAL_QID": "", "TRANSACTION_CHECK_TIMES": "",
		} {
			if got[name] != want {
				t.Errorf("property %s is %q, want %q", name, got[name], want)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestTransaction_Refused checks every field that a producer names, in the real broker's order.
func TestTransaction_Refused(t *testing.T) {
	t.Parallel()
	l := opened(t)
	p, other := l.produce("P"), l.produce("Other")
	l.send("T", 0, "plain", 0)
	h := p.prepare("T", "K")
	for name, tc := range map[string]struct {
		p    *producer
		h    half
		code int32
	}{
		"another group":     {other, h, remoting.SystemError},
		"another offset":    {p, half{h.queueOffset + 1, h.commitLogOffset, "K"}, remoting.SystemError},
		"no record":         {p, half{h.queueOffset, h.commitLogOffset + 1, "K"}, remoting.SystemError},
		"no half message":   {p, half{0, 0, "K"}, remoting.SystemError},
		"behind the log":    {p, half{h.queueOffset, 1 << 40, "K"}, remoting.SystemError},
		"before everything": {p, half{h.queueOffset, -1, "K"}, remoting.SystemError},
	} {
		for _, how := range []int32{message.SysFlagCommit, message.SysFlagRollback} {
			if reply := tc.p.end(tc.h, how, false); reply.Code != tc.code {
				t.Errorf("%s: code %d, %s", name, reply.Code, reply.Remark)
			}
		}
	}
	l.want("T", "plain")
	p.commit(h)
	l.want("T", "plain", "K")
}

// TestTransaction_Checks asks when transactionTimeOut is over and then every interval, counts, and
// gives up, as case BR-61 wants it; over a restart, too.
func TestTransaction_Checks(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.config.TransactionCheckMax = 4
	l.open(startMs)
	t.Cleanup(func() { l.close() })
	p := l.produce("P")
	h := p.prepare("T", "K")
	var asked []question
	for i, step := range []time.Duration{5999 * time.Millisecond, 30 * time.Second, 30 * time.Second, 31 * time.Second} {
		l.advance(step)
		asked = append(asked, p.questions()...)
		if i == 1 {
			l.restart()
			p = l.produce("P")
		}
		if i == 2 {
			if err := l.broker.Save(); err != nil {
				t.Fatal(err)
			}
			l.kill()
			p = l.produce("P")
		}
	}
	for i, q := range asked {
		if want := startMs + 6000 + int64(i)*30_000; q.at != want || q.times != i+1 || q.topic != "T" || q.body != "K" {
			t.Errorf("question %d: %+v, want it at %d", i+1, q, want)
		}
		if q.header.CommitLogOffset != h.commitLogOffset || q.header.TranStateTableOffset != h.queueOffset || q.header.MsgID != "K" ||
			q.header.TransactionID != "K" || q.header.Topic != message.TopicTransHalf || q.header.BrokerName != "broker-a" {
			t.Errorf("question %d: %+v", i+1, q.header)
		}
	}
	if len(asked) != 4 {
		t.Fatalf("asked %d times, want 4", len(asked))
	}
	l.want(message.TopicTransCheckMax)
	l.advance(30 * time.Second)
	l.want(message.TopicTransCheckMax, "K")
	l.restart()
	l.advance(24 * time.Hour)
	l.want(message.TopicTransCheckMax, "K")
	l.want("T")
	l.resume()
	p = l.produce("P")
	l.advance(6 * time.Second)
	asked = p.questions()
	if len(asked) != 1 || asked[0].times != 1 {
		t.Fatalf("after the message was taken up again: %+v", asked)
	}
	header := asked[0].header
	if reply := p.end(half{header.TranStateTableOffset, header.CommitLogOffset, "K"}, message.SysFlagCommit, true); reply.Code != 0 {
		t.Fatalf("commit: %d, %s", reply.Code, reply.Remark)
	}
	l.want("T", "K")
}

// resume takes up what was given up first.
func (l *lab) resume() {
	l.t.Helper()
	var id []byte
	if err := l.broker.EachMessage(message.TopicTransCheckMax, func(v *message.View) error {
		id = message.AppendOffsetID(nil, v.StoreHost, v.CommitLogOffset)
		return nil
	}); err != nil {
		l.t.Fatal(err)
	}
	var ext remoting.ExtWriter
	req := remoting.ResumeCheckHalfMessageRequest{MsgID: string(id)}
	req.Encode(&ext)
	l.call(remoting.ResumeCheckHalfMessage, &ext, nil)
}

// TestTransaction_Immunity is case BR-62: no check before the time that the producer asks for, and
// none of the checks that are its due is lost; after it only an answer to a check ends the transaction.
func TestTransaction_Immunity(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.config.TransactionCheckMax, l.config.TransactionCheckInterval = 3, 3000
	l.open(startMs)
	t.Cleanup(l.close)
	p := l.produce("P")
	long := p.prepare("T", "long", "CHECK_IMMUNITY_TIME_IN_SECONDS", "30")
	p.prepare("T", "short", "CHECK_IMMUNITY_TIME_IN_SECONDS", "1")
	early := p.prepare("T", "early", "CHECK_IMMUNITY_TIME_IN_SECONDS", "60")
	l.advance(59 * time.Second)
	var at []string
	for _, q := range p.questions() {
		at = append(at, q.body+" "+strconv.FormatInt((q.at-startMs)/1000, 10))
	}
	if want := []string{"short 1", "short 4", "short 7", "long 30", "long 33", "long 36"}; !slices.Equal(at, want) {
		t.Errorf("asked %q, want %q", at, want)
	}
	l.want(message.TopicTransCheckMax, "short", "long")
	if reply := p.end(early, message.SysFlagCommit, false); reply.Code != remoting.Success {
		t.Errorf("in its time: %d, %s", reply.Code, reply.Remark)
	}
	l.want("T", "early")
	late := p.prepare("T", "late", "CHECK_IMMUNITY_TIME_IN_SECONDS", "8")
	l.advance(8001 * time.Millisecond)
	if reply := p.end(late, message.SysFlagCommit, false); reply.Code != remoting.IllegalOperation {
		t.Errorf("after its time: %d, %s", reply.Code, reply.Remark)
	}
	if reply := p.end(late, message.SysFlagRollback, true); reply.Code != remoting.Success {
		t.Errorf("the answer to a check: %d, %s", reply.Code, reply.Remark)
	}
	_ = long
	l.want("T", "early")
}

// TestTransaction_Producers asks another producer of the group each time, and nobody counts while
// none is there.
func TestTransaction_Producers(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.config.TransactionCheckMax = 2
	l.open(startMs)
	t.Cleanup(l.close)
	a, b := l.produce("P"), l.produce("P")
	l.produce("Other")
	a.prepare("T", "K")
	l.advance(36 * time.Second)
	if n, m := len(a.questions()), len(b.questions()); n != 1 || m != 1 {
		t.Errorf("asked %d and %d times, want once each", n, m)
	}
	h := a.prepare("T", "L")
	a.leave()
	b.leave()
	l.advance(2 * time.Hour)
	l.want(message.TopicTransCheckMax, "K")
	c := l.produce("P")
	l.advance(30 * time.Second)
	if asked := c.questions(); len(asked) != 1 || asked[0].times != 1 || asked[0].body != "L" {
		t.Errorf("asked %+v", asked)
	}
	if reply := c.end(h, message.SysFlagCommit, true); reply.Code != 0 {
		t.Errorf("commit: %d, %s", reply.Code, reply.Remark)
	}
	l.want("T", "L")
}

// TestTransaction_Expires gives up what nobody could be asked about for as long as messages are kept.
func TestTransaction_Expires(t *testing.T) {
	t.Parallel()
	l := opened(t)
	p := l.produce("P")
	p.prepare("T", "K", "CHECK_IMMUNITY_TIME_IN_SECONDS", "1000000")
	l.advance(72*time.Hour - time.Millisecond)
	l.want(message.TopicTransCheckMax)
	l.advance(time.Millisecond)
	l.want(message.TopicTransCheckMax, "K")
	if asked := p.questions(); len(asked) != 0 {
		t.Errorf("asked %+v", asked)
	}
	ctx, cancel := within()
	defer cancel()
	if _, err := l.broker.VirtualTime().AdvanceToNext(ctx); !errors.Is(err, virtualtime.ErrNothingPending) {
		t.Errorf("something pends: %v", err)
	}
}

// TestTransaction_Delays begins a delay with the commit, unless the instant is absolute.
func TestTransaction_Delays(t *testing.T) {
	t.Parallel()
	l := opened(t)
	p := l.produce("P")
	at := strconv.FormatInt(startMs+8000, 10)
	level, relative := p.prepare("T", "level", "DELAY", "2"), p.prepare("T", "relative", "TIMER_DELAY_MS", "1500")
	absolute, past := p.prepare("T", "absolute", "TIMER_DELIVER_MS", at), p.prepare("T", "past", "TIMER_DELIVER_MS", strconv.FormatInt(startMs+1000, 10))
	for _, refused := range [][2]string{{"DELAY", "x"}, {"TIMER_DELAY_SEC", "259201"}} {
		if reply := p.trySend("T", "refused", refused[0], refused[1]); reply.Code != remoting.MessageIllegal {
			t.Errorf("%v: code %d", refused, reply.Code)
		}
	}
	l.advance(4 * time.Second)
	for _, h := range []half{level, relative, absolute, past} {
		p.commit(h)
	}
	l.want("T", "past")
	l.advance(1499 * time.Millisecond)
	l.want("T", "past")
	l.advance(time.Millisecond)
	l.want("T", "past", "relative")
	l.advance(2499 * time.Millisecond)
	l.want("T", "past", "relative")
	l.advance(time.Millisecond)
	l.want("T", "past", "relative", "absolute")
	l.advance(time.Second)
	l.want("T", "past", "relative", "absolute", "level")
	for _, h := range []half{level, relative, absolute, past} {
		p.commit(h)
	}
	l.advance(time.Hour)
	l.want("T", "past", "relative", "absolute", "level")
}
