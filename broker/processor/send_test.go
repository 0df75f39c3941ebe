package processor_test

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/lock"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// sendLab is the send side of a broker over a real store.
type sendLab struct {
	t      testing.TB
	store  *store.Store
	topics *topic.Table
	groups *subscription.Table
	locks  *lock.Table
	timers *timer.Admission

	noRecall, readOnly bool
	opts               processor.SendOptions
	routes             []remoting.Route
}

func newSendLab(t testing.TB, sync bool) *sendLab {
	t.Helper()
	l := &sendLab{t: t, locks: lock.NewTable(clock.Real{})}
	differences, err := difference.NewSet("")
	check(t, err)
	l.store, err = store.Open(store.Options{
		Dir: t.TempDir(), Clock: clock.Real{}, Log: quiet(), TagsCode: schedule.TagsCode, SyncFlush: sync, SyncFlushTimeoutMs: await.Patience.Milliseconds(),
	})
	check(t, err)
	check(t, l.store.Start())
	t.Cleanup(func() { check(t, l.store.Close()) })
	l.topics, err = topic.New(topic.Options{
		Store: clock.Real{}, Log: quiet(), Differences: differences, Cluster: "C", Broker: "B", AutoCreate: true,
		DefaultQueueNums: 8, ScheduleQueues: 18,
	})
	check(t, err)
	l.groups, err = subscription.New(subscription.Options{Store: clock.Real{}, Log: quiet(), AutoCreate: true})
	check(t, err)
	levels, err := schedule.ParseLevels(schedule.DefaultLevels)
	check(t, err)
	counters, err := stats.New(stats.Options{Wire: clock.Real{}, Cluster: "C"})
	check(t, err)
	l.timers = timer.NewAdmission(timer.AdmissionOptions{
		Enabled: true, MaxDelayMs: 3 * 86_400_000, PrecisionMs: 1000, CongestNum: 1<<31 - 1, Store: clock.Real{}, Differences: differences,
	})
	door := appender.New(l.store, schedule.NewHook(schedule.HookOptions{
		Levels: schedule.NewLevelTable(levels), Enabled: true, Store: clock.Real{}, AnyTime: l.timers, Differences: differences,
	}))
	host := netip.MustParseAddrPort("127.0.0.1:10911")
	l.opts = processor.SendOptions{
		Topics: l.topics, Groups: l.groups, Locks: l.locks, Appender: door, Stats: counters, Store: clock.Real{}, Wire: clock.Real{},
		Differences: differences, StoreHost: host, Region: "DefaultRegion", Cluster: "C", TraceOn: true, SyncFlush: sync,
		MaxMessageSize: store.DefaultMaxMessageSize, Broker: "B", AnyTime: l.timers,
	}
	l.routes = append(processor.NewSend(l.opts).Routes(), (&processor.SendBack{
		Topics: l.topics, Groups: l.groups, Appender: door, Store: l.store, Stats: counters, StoreHost: host,
	}).Routes()...)
	l.routes = append(l.routes, (&processor.Recall{
		Topics: l.topics, Appender: door, Stats: counters, Store: clock.Real{}, StoreHost: host, Broker: "B", Region: "DefaultRegion",
		MaxDelayMs: func() int64 { return 3 * 86_400_000 }, SyncFlush: sync, Allowed: func() bool { return !l.noRecall }, Writable: func() bool { return !l.readOnly },
	}).Routes()...)
	return l
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sendHeader(topicName string, queueID int, props string) ext {
	return ext{
		"a": "P", "b": topicName, "c": "TBW102", "d": "4", "e": strconv.Itoa(queueID), "f": "0", "g": "1", "h": "0",
		"i": props, "j": "0", "k": "false", "m": "false",
	}
}

func properties(pairs ...string) string {
	var b []byte
	for i := 0; i < len(pairs); i += 2 {
		b = message.PropertyAppend(b, pairs[i], pairs[i+1])
	}
	return string(b)
}

// stored reads the record of a queue.
func (l *sendLab) stored(topicName string, queueID int32, offset int64) message.View {
	l.t.Helper()
	q := l.store.Queue([]byte(topicName), queueID)
	if q == nil {
		l.t.Fatalf("queue %s/%d does not exist", topicName, queueID)
	}
	u, ok := q.Unit(offset)
	if !ok {
		l.t.Fatalf("%s/%d has no unit %d", topicName, queueID, offset)
	}
	slice, err := l.store.Record(u.CommitLogOffset, u.Size)
	check(l.t, err)
	l.t.Cleanup(slice.Release)
	v, err := message.ParseVerify(slice.Bytes)
	check(l.t, err)
	return v
}

func extOf(reply *remoting.Command, key string) string {
	v, _ := reply.Ext.Get(key)
	return string(v)
}

func TestSend_StoresTheMessageWithTheBrokersProperties(t *testing.T) {
	t.Parallel()
	l := newSendLab(t, false)
	props := properties("TAGS", "A", "POP_CK", "x", "CLUSTER", "forged", "UNIQ_KEY", "KEY1")
	reply := request(t, l.routes, &conn{}, remoting.SendMessageV2, sendHeader("T", 2, props), "hello")
	wantReply(t, reply, remoting.Success, "")
	for key, want := range map[string]string{
		"queueId": "2", "queueOffset": "0", "transactionId": "KEY1", "MSG_REGION": "DefaultRegion", "TRACE_ON": "true",
		"msgId": "7F00000100002A9F0000000000000000",
	} {
		if got := extOf(reply, key); got != want {
			t.Errorf("reply field %s is %q, want %q", key, got, want)
		}
	}
	v := l.stored("T", 2, 0)
	want := properties("TAGS", "A", "UNIQ_KEY", "KEY1", "MSG_REGION", "DefaultRegion", "TRACE_ON", "true", "CLUSTER", "C")
	if string(v.Body) != "hello" || string(v.Properties) != want {
		t.Errorf("stored body %q, properties %q, want %q", v.Body, v.Properties, want)
	}
	if config := l.topics.GetString("T"); config.WriteQueueNums != 4 || config.Perm != 6 {
		t.Errorf("auto-created topic is %+v", config)
	}
}

func TestSend_Refusals(t *testing.T) {
	t.Parallel()
	l := newSendLab(t, false)
	for name, c := range map[string]struct {
		topic string
		queue int
		props string
		body  string
		code  int32
	}{
		"illegal characters":  {"a.b", 0, "", "x", remoting.InvalidParameter},
		"name too long":       {strings.Repeat("t", 128), 0, "", "x", remoting.InvalidParameter},
		"system topic":        {message.TopicSchedule, 0, "", "x", remoting.NoPermission},
		"timer topic":         {message.TopicTimer, 0, "", "x", remoting.NoPermission},
		"queue out of range":  {"R", 99, "", "x", remoting.InvalidParameter},
		"empty body":          {"R", 0, "", "", remoting.MessageIllegal},
		"delay is no number":  {"R", 0, properties("DELAY", "abc"), "x", remoting.MessageIllegal},
		"timer is no number":  {"R", 0, properties("TIMER_DELAY_MS", "abc"), "x", remoting.MessageIllegal},
		"light queues":        {"R", 0, properties("INNER_MULTI_DISPATCH", "%LMQ%q"), "x", remoting.SystemError},
		"properties too long": {"R", 0, properties("K", strings.Repeat("v", 32760)), "x", remoting.MessageIllegal},
		"no room for a delay": {"R", 0, properties("DELAY", "1", "K", strings.Repeat("v", 32600)), "x", remoting.MessageIllegal},
		"body too large":      {"R", 0, "", strings.Repeat("x", store.DefaultMaxMessageSize+1), remoting.MessageIllegal},
	} {
		reply := request(t, l.routes, &conn{}, remoting.SendMessageV2, sendHeader(c.topic, c.queue, c.props), c.body)
		if reply.Code != c.code || reply.Remark == "" || extOf(reply, "MSG_REGION") == "" {
			t.Errorf("%s: code %d, remark %q, want %d", name, reply.Code, reply.Remark, c.code)
		}
	}
	for _, q := range l.store.Queues("R") {
		if q.Max() > 0 {
			t.Errorf("a refused message is stored in queue %d", q.QueueID())
		}
	}
}

func TestSend_Delayed_ReportsTheRealQueue(t *testing.T) {
	t.Parallel()
	l := newSendLab(t, false)
	reply := request(t, l.routes, &conn{}, remoting.SendMessageV2, sendHeader("D", 1, properties("DELAY", "99")), "x")
	wantReply(t, reply, remoting.Success, "")
	if extOf(reply, "queueId") != "1" || extOf(reply, "queueOffset") != "0" {
		t.Errorf("reply %v", reply.Ext.All())
	}
	v := l.stored(message.TopicSchedule, 17, 0)
	for key, want := range map[string]string{"DELAY": "18", "REAL_TOPIC": "D", "REAL_QID": "1"} {
		if got, _ := message.PropertyGet(v.Properties, key); string(got) != want {
			t.Errorf("property %s is %q, want %q", key, got, want)
		}
	}
}

func TestSend_Batch(t *testing.T) {
	t.Parallel()
	l := newSendLab(t, false)
	header := sendHeader("Batch", 1, "")
	header["m"] = "true"
	reply := request(t, l.routes, &conn{}, remoting.SendBatchMessage, header, batch("a", "", "b", properties("TAGS", "B"), "c", ""))
	wantReply(t, reply, remoting.Success, "")
	if ids := strings.Split(extOf(reply, "msgId"), ","); len(ids) != 3 {
		t.Errorf("ids %v", ids)
	}
	for i, body := range []string{"a", "b", "c"} {
		if v := l.stored("Batch", 1, int64(i)); string(v.Body) != body || v.QueueOffset != int64(i) {
			t.Errorf("message %d is %q at %d", i, v.Body, v.QueueOffset)
		}
	}
	for name, body := range map[string]string{
		"a delay": batch("a", properties("DELAY", "1")), "a timer": batch("a", properties("TIMER_DELAY_SEC", "1")), "torn": batch("a", "")[:10],
	} {
		reply := request(t, l.routes, &conn{}, remoting.SendBatchMessage, header, body)
		if reply.Code != remoting.MessageIllegal {
			t.Errorf("%s inside a batch: code %d", name, reply.Code)
		}
	}
}

func batch(pairs ...string) string {
	var b []byte
	for i := 0; i < len(pairs); i += 2 {
		body, props := pairs[i], pairs[i+1]
		b = binary.BigEndian.AppendUint32(b, uint32(22+len(body)+len(props)))
		b = append(b, make([]byte, 12)...)
		b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
		b = append(b, body...)
		b = binary.BigEndian.AppendUint16(b, uint16(len(props)))
		b = append(b, props...)
	}
	return string(b)
}

func TestSend_SyncFlush_AnswersWhenDurable(t *testing.T) {
	t.Parallel()
	l := newSendLab(t, true)
	c := &conn{}
	if reply := request(t, l.routes, c, remoting.SendMessageV2, sendHeader("S", 0, ""), "x"); reply != nil {
		t.Fatalf("answered at once: %+v", reply)
	}
	eventually(t, "the reply after the flush", func() bool {
		sent := c.take()
		return len(sent) == 1 && sent[0].Code == remoting.Success && extOf(&sent[0], "queueOffset") == "0"
	})
	reply := request(t, l.routes, c, remoting.SendMessageV2, sendHeader("S", 0, properties("WAIT", "false")), "x")
	wantReply(t, reply, remoting.Success, "")
}

func TestSend_RetryBeyondItsTimes_GoesToTheDeadLetters(t *testing.T) {
	t.Parallel()
	l := newSendLab(t, false)
	header := sendHeader("%RETRY%g", 0, properties("DELAY", "3"))
	header["j"], header["l"] = "3", "2"
	wantReply(t, request(t, l.routes, &conn{}, remoting.SendMessageV2, header, "x"), remoting.Success, "")
	l.stored("%DLQ%g", 0, 0)

	l.locks.Lock("ordered", "c1", []lock.Queue{{Topic: "T", BrokerName: "B", QueueID: 0}})
	wantReply(t, request(t, l.routes, &conn{}, remoting.SendMessageV2, sendHeader("%RETRY%ordered", 0, ""), "x"), remoting.Success, "")
	l.stored("%DLQ%ordered", 0, 0)
}

func TestSendBack(t *testing.T) {
	t.Parallel()
	l := newSendLab(t, false)
	wantReply(t, request(t, l.routes, &conn{}, remoting.SendMessageV2, sendHeader("T", 0, properties("UNIQ_KEY", "K")), "x"), remoting.Success, "")
	back := func(level string) *remoting.Command {
		return request(t, l.routes, &conn{}, remoting.ConsumerSendMsgBack, ext{"offset": "0", "group": "g", "delayLevel": level}, "")
	}
	for level, queue := range map[string]int32{"0": 2, "1": 0, "99": 17} {
		wantReply(t, back(level), remoting.Success, "")
		v := l.stored(message.TopicSchedule, queue, 0)
		for key, want := range map[string]string{
			"RETRY_TOPIC": "T", "REAL_TOPIC": "%RETRY%g", "UNIQ_KEY": "K", "ORIGIN_MESSAGE_ID": "7F00000100002A9F0000000000000000",
		} {
			if got, _ := message.PropertyGet(v.Properties, key); string(got) != want {
				t.Errorf("level %s: property %s is %q, want %q", level, key, got, want)
			}
		}
		if v.ReconsumeTimes != 1 {
			t.Errorf("level %s: reconsumeTimes %d", level, v.ReconsumeTimes)
		}
	}
	wantReply(t, back("-1"), remoting.Success, "")
	l.stored("%DLQ%g", 0, 0)
	reply := request(t, l.routes, &conn{}, remoting.ConsumerSendMsgBack, ext{"offset": "35184372088832", "group": "g", "delayLevel": "0"}, "")
	wantReply(t, reply, remoting.SystemError, "look message by offset failed, 35184372088832")
}

// BenchmarkSend is a send from the decoded command to the reply's frame: router, checks, hooks,
// statistics, append.
func BenchmarkSend(b *testing.B) {
	l := newSendLab(b, false)
	router := remoting.NewRouter(l.routes, remoting.RouterOptions{Log: quiet()})
	cmd := remoting.Command{Code: remoting.SendMessageV2, Version: remoting.Version, Body: make([]byte, 128)}
	for key, value := range sendHeader("T", 0, properties("UNIQ_KEY", "7F0000010000000000000000000000000", "TAGS", "A", "KEYS", "k", "WAIT", "true")) {
		cmd.Ext.Set(key, value)
	}
	frame := remoting.AppendCommand(nil, &cmd)
	var ex remoting.Exchange
	var out []byte
	c := &conn{}
	b.ReportAllocs()
	for b.Loop() {
		ex.Begin(c)
		if err := remoting.Decode(frame, &ex.Req); err != nil {
			b.Fatal(err)
		}
		router.Serve(&ex)
		if ex.Reply.Code != 0 {
			b.Fatal(ex.Reply.Remark)
		}
		out = remoting.AppendReplyHead(out[:0], ex.Req.Opaque, &ex.Reply)
	}
}

func TestSend_PriorityIsTheQueue(t *testing.T) {
	t.Parallel()
	l := newSendLab(t, false)
	for _, tt := range []struct {
		name  string
		props string
		queue int32
		kept  string
	}{
		{"inside", properties("_SYS_MSG_PRIORITY_", "2", "TAGS", "a"), 2, "2"},
		{"beyond the last queue", properties("_SYS_MSG_PRIORITY_", "9"), 3, "9"},
		{"given twice", properties("_SYS_MSG_PRIORITY_", "9", "_SYS_MSG_PRIORITY_", "1"), 1, "1"},
		{"negative", properties("_SYS_MSG_PRIORITY_", "-1"), 0, "-1"},
		{"ordered", properties("_SYS_MSG_PRIORITY_", "2", "__SHARDINGKEY", "k"), 0, ""},
	} {
		reply := request(t, l.routes, &conn{}, remoting.SendMessageV2, sendHeader("T", 0, tt.props), "x")
		wantReply(t, reply, remoting.Success, "")
		if got := extOf(reply, "queueId"); got != strconv.Itoa(int(tt.queue)) {
			t.Errorf("%s: the reply names queue %s, want %d", tt.name, got, tt.queue)
			continue
		}
		offset, err := strconv.ParseInt(extOf(reply, "queueOffset"), 10, 64)
		check(t, err)
		v := l.stored("T", tt.queue, offset)
		if got, _ := message.PropertyGet(v.Properties, message.PropertyPriority); string(got) != tt.kept {
			t.Errorf("%s: stored with priority %q, want %q", tt.name, got, tt.kept)
		}
	}
}
