package processor_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestPullResults(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for i, tag := range []string{"Aa", "BB", "", "C C", "Aa"} {
		l.put("T", 0, tag, strconv.Itoa(i))
	}
	for _, tt := range []struct {
		name   string
		offset int64
		change ext
		code   int32
		remark string
		next   int64
		bodies []string
	}{
		{"all", 0, nil, remoting.Success, "FOUND", 5, []string{"0", "1", "2", "3", "4"}},
		{"from the middle", 3, nil, remoting.Success, "FOUND", 5, []string{"3", "4"}},
		{"two", 1, ext{"maxMsgNums": "2"}, remoting.Success, "FOUND", 3, []string{"1", "2"}},
		{"none asked for gives one", 1, ext{"maxMsgNums": "0"}, remoting.Success, "FOUND", 2, []string{"1"}},
		{"tags of equal hash", 0, ext{"subscription": "Aa"}, remoting.Success, "FOUND", 5, []string{"0", "1", "4"}},
		{"another tag", 0, ext{"subscription": "x || C C"}, remoting.Success, "FOUND", 5, []string{"3"}},
		{"no such tag", 0, ext{"subscription": "nope"}, remoting.PullRetryImmediately, "NO_MATCHED_MESSAGE", 5, nil},
		{"at the end", 5, nil, remoting.PullNotFound, "OFFSET_OVERFLOW_ONE", 5, nil},
		{"beyond the end", 6, nil, remoting.PullOffsetMoved, "OFFSET_OVERFLOW_BADLY", 5, nil},
		{"far beyond", 100, nil, remoting.PullOffsetMoved, "OFFSET_OVERFLOW_BADLY", 5, nil},
		{"before the beginning", -1, nil, remoting.PullOffsetMoved, "OFFSET_TOO_SMALL", 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantPulled(t, l.pull(&conn{}, tt.offset, tt.change), tt.code, tt.remark, tt.next, 0, 5, tt.bodies...)
		})
	}
	t.Run("queue without a file at 0", func(t *testing.T) {
		wantPulled(t, l.pull(&conn{}, 0, ext{"queueId": "1"}), remoting.PullNotFound, "NO_MATCHED_LOGIC_QUEUE", 0, 0, 0)
	})
	t.Run("queue without a file at 7", func(t *testing.T) {
		wantPulled(t, l.pull(&conn{}, 7, ext{"queueId": "1"}), remoting.PullOffsetMoved, "NO_MATCHED_LOGIC_QUEUE", 0, 0, 0)
	})
}

func TestPullIsBounded(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for i := range 40 {
		l.put("T", 0, "", strconv.Itoa(i))
	}
	big := strings.Repeat("x", 200<<10)
	l.put("T", 1, "", big)
	l.put("T", 1, "", big)
	reply := l.pull(&conn{}, 0, ext{"maxMsgNums": "100"})
	if next := field(reply, "nextBeginOffset"); next != "32" {
		t.Errorf("a pull of 100 goes to %s, want 32", next)
	}
	for at := range int64(2) {
		reply = l.pull(&conn{}, at, ext{"queueId": "1"})
		if next := field(reply, "nextBeginOffset"); next != strconv.FormatInt(at+1, 10) {
			t.Errorf("a pull of large messages at %d goes to %s, want one", at, next)
		}
	}
}

func TestPullScansABoundedPartOfTheQueue(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for range 1000 {
		l.put("T", 0, "A", "x")
	}
	wantPulled(t, l.pull(&conn{}, 0, ext{"subscription": "B"}), remoting.PullRetryImmediately, "NO_MATCHED_MESSAGE", 800, 0, 1000)
	wantPulled(t, l.pull(&conn{}, 800, ext{"subscription": "B"}), remoting.PullRetryImmediately, "NO_MATCHED_MESSAGE", 1000, 0, 1000)
}

func TestPullIsRefused(t *testing.T) {
	t.Parallel()
	const faq = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
	for _, tt := range []struct {
		name    string
		prepare func(*lab)
		change  ext
		code    int32
		remark  string
		because string // forbiddenType
	}{
		{name: "unknown group", change: ext{"consumerGroup": "x"}, code: remoting.SubscriptionGroupNotExist,
			remark: "subscription group [x] does not exist, " + faq},
		{name: "group may not consume", prepare: func(l *lab) { l.groups["g"].ConsumeEnable = false },
			code: remoting.NoPermission, remark: "subscription group no permission, g", because: "2"},
		{name: "unknown topic", change: ext{"topic": "X"}, code: remoting.TopicNotExist,
			remark: "topic[X] not exist, apply first please! " + faq},
		{name: "write-only topic", prepare: func(l *lab) { l.topics["T"].Perm = topic.PermWrite },
			code: remoting.NoPermission, remark: "the topic[T] pulling message is forbidden", because: "3"},
		{name: "queue too high", change: ext{"queueId": "2"}, code: remoting.InvalidParameter,
			remark: "queueId[2] is illegal, topic:[T] topicConfig.readQueueNums:[2] consumer:[/127.0.0.1:4000]"},
		{name: "negative queue", change: ext{"queueId": "-1"}, code: remoting.InvalidParameter},
		{name: "broken SQL", change: ext{"expressionType": "SQL92", "subscription": "a > 'x'"}, code: remoting.SubscriptionParseFailed,
			remark: `parse the consumer's subscription failed: sql: "a > 'x'" is no SQL92 expression: a property or a number is expected at position 5`},
		{name: "empty SQL", change: ext{"expressionType": "SQL92", "subscription": ""}, code: remoting.SubscriptionParseFailed,
			remark: "parse the consumer's subscription failed: the SQL92 expression is empty"},
		{name: "unknown type", change: ext{"expressionType": "REGEX"}, code: remoting.SubscriptionParseFailed},
		{name: "group without a heartbeat", change: ext{"sysFlag": "0"}, code: remoting.SubscriptionNotExist,
			remark: "the consumer's group info not exist" + faq},
		{name: "topic without a subscription", prepare: func(l *lab) { l.join(client.Clustering, "U", "*", 1) }, change: ext{"sysFlag": "0"},
			code: remoting.SubscriptionNotExist, remark: "the consumer's subscription not exist" + faq},
		{name: "newer subscription", prepare: func(l *lab) { l.join(client.Clustering, "T", "*", 1) }, change: ext{"sysFlag": "0", "subVersion": "2", "expressionType": "SQL92"},
			code: remoting.SubscriptionNotLatest, remark: "the consumer's subscription not latest"},
		{name: "broadcast", prepare: func(l *lab) {
			l.groups["g"].ConsumeBroadcastEnable = false
			l.join(client.Broadcasting, "T", "*", 1)
		}, change: ext{"sysFlag": "0"}, code: remoting.NoPermission,
			remark: "the consumer group[g] can not consume by broadcast way", because: "4"},
		{name: "no queue id", change: ext{"queueId": ""}, code: remoting.SystemError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			if tt.prepare != nil {
				tt.prepare(l)
			}
			reply := l.pull(&conn{}, 0, tt.change)
			wantReply(t, reply, tt.code, tt.remark)
			if reply.Remark == "" {
				t.Error("no remark")
			}
			want := tt.because
			if want == "" {
				want = "<absent>"
			}
			if got := field(reply, "forbiddenType"); got != want {
				t.Errorf("forbiddenType %s, want %s", got, want)
			}
		})
	}
}

func TestPullOfABrokerThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *processor.PullOptions) { o.Readable = func() bool { return false } })
	reply := l.pull(&conn{}, 0, nil)
	wantReply(t, reply, remoting.NoPermission, "the broker[broker-a] pulling message is forbidden")
	if got := field(reply, "forbiddenType"); got != "1" {
		t.Errorf("forbiddenType %s, want 1", got)
	}
}

func TestPullBySubscriptionOfTheHeartbeat(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "a", "0")
	l.put("T", 0, "b", "1")
	l.join(client.Clustering, "T", "b", 7)
	wantPulled(t, l.pull(&conn{}, 0, ext{"sysFlag": "0", "subscription": "", "subVersion": "7"}), remoting.Success, "FOUND", 2, 0, 2, "1")
}

func TestLitePull(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "", "0")
	lite := func() *remoting.Command {
		return request(t, l.routes, &conn{}, remoting.LitePullMessage, ext{
			"consumerGroup": "g", "topic": "T", "queueId": "0", "queueOffset": "0", "maxMsgNums": "10", "sysFlag": "20", "commitOffset": "0",
			"suspendTimeoutMillis": "20000", "subVersion": "0", "subscription": "*", "expressionType": "TAG",
		}, "")
	}
	wantPulled(t, lite(), remoting.Success, "FOUND", 1, 0, 1, "0")
	l.serve(func(o *processor.PullOptions) { o.NoLitePull = true })
	reply := lite()
	wantReply(t, reply, remoting.NoPermission, "the broker[broker-a] for lite pull consumer is forbidden")
	if got := field(reply, "forbiddenType"); got != "1" {
		t.Errorf("forbiddenType %s", got)
	}
	wantReply(t, l.pull(&conn{}, 0, nil), remoting.Success, "FOUND")
}

func TestPullOfWhatIsForbidden(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "", "0")
	l.groups["forbidden"] = group("forbidden")
	reply := l.pull(&conn{}, 0, ext{"consumerGroup": "forbidden", "sysFlag": "0"})
	wantReply(t, reply, remoting.NoPermission, "the consumer group[forbidden] is forbidden for topic[T]")
	if got := field(reply, "forbiddenType"); got != "5" {
		t.Errorf("forbiddenType %s", got)
	}
	wantReply(t, l.pull(&conn{}, 0, ext{"consumerGroup": "forbidden"}), remoting.Success, "FOUND")
}

func TestPullCommits(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "", "0")
	l.pull(&conn{}, 0, ext{"sysFlag": "4", "commitOffset": "9"})
	if got := l.offsets.Query([]byte("g"), []byte("T"), 0); got != offset.None {
		t.Errorf("without the bit %d is committed", got)
	}
	l.pull(&conn{}, 0, ext{"sysFlag": "5", "commitOffset": "9"})
	if got := l.offsets.Query([]byte("g"), []byte("T"), 0); got != 9 {
		t.Errorf("committed %d, want 9", got)
	}
	if got := l.offsets.QueryPulled([]byte("g"), []byte("T"), 0); got != 1 {
		t.Errorf("the next pull is noted at %d, want 1", got)
	}
}

func BenchmarkPull32(b *testing.B) {
	l := newLab(b)
	l.join(client.Clustering, "T", "TagA || TagB", 1)
	for range 64 {
		l.put("T", 0, "TagA", strings.Repeat("x", 128))
	}
	router := remoting.NewRouter(l.routes, remoting.RouterOptions{Log: quiet()})
	fields := ext{
		"consumerGroup": "g", "topic": "T", "queueId": "0", "queueOffset": "16", "maxMsgNums": "32", "sysFlag": "3",
		"commitOffset": "16", "suspendTimeoutMillis": "15000", "subVersion": "1", "expressionType": "TAG", "maxMsgBytes": "262144",
	}
	cmd := remoting.Command{Code: remoting.PullMessage}
	for key, value := range fields {
		cmd.Ext.Set(key, value)
	}
	frame := remoting.AppendCommand(nil, &cmd)
	var (
		ex  remoting.Exchange
		c   = &conn{}
		out []byte
	)
	b.ReportAllocs()
	for b.Loop() {
		ex.Begin(c)
		if err := remoting.Decode(frame, &ex.Req); err != nil {
			b.Fatal(err)
		}
		router.Serve(&ex)
		out = remoting.AppendReplyHead(out[:0], ex.Req.Opaque, &ex.Reply)
		if len(ex.Reply.Parts) != 32 {
			b.Fatalf("%d messages, want 32: %s", len(ex.Reply.Parts), ex.Reply.Remark)
		}
		ex.Reply.Release()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/32, "ns/msg")
}
