package processor_test

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/longpoll"
	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// lab is the consuming half of a broker, on a store in memory.
type lab struct {
	t       testing.TB
	wire    *clock.Virtual
	time    *clock.Virtual
	store   *store.Store
	polls   *longpoll.Service
	offsets *offset.Table
	clients *client.Registry
	stats   *stats.Service
	topics  topics
	groups  groups
	routes  []remoting.Route

	pushedResets bool // useServerSideResetOffset=false
}

func newLab(t testing.TB, change ...func(*processor.PullOptions)) *lab {
	t.Helper()
	l := &lab{
		t: t, wire: clock.NewVirtual(1_000_000), time: clock.NewVirtual(1_700_000_000_000),
		topics: topics{"T": plain("T", 2)}, groups: groups{"g": group("g")},
	}
	var err error
	check := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	l.polls, err = longpoll.New(longpoll.Options{Wire: l.wire, Records: l, Log: quiet()})
	check()
	l.polls.Start()
	t.Cleanup(func() { _ = l.polls.Close() })
	l.store, err = store.Open(store.Options{
		Memory: region.NewMemory(), Clock: l.time, Log: quiet(), OnArrival: l.polls.Arrived,
		CommitLogFileSize: 8 << 20,
		TagsCode: func(_ string, props []byte) int64 {
			tags, _ := message.PropertyGet(props, message.PropertyTags)
			return message.TagsHash(tags)
		},
	})
	check()
	err = l.store.Start()
	check()
	t.Cleanup(func() { _ = l.store.Close() })
	l.offsets, err = offset.New(offset.Options{Wire: l.wire, Store: l.time, Log: quiet(), Config: persist.At(t.TempDir())})
	check()
	l.clients, err = client.New(client.Options{Wire: l.wire, Log: quiet()})
	check()
	l.stats, err = stats.New(stats.Options{Wire: l.wire, Cluster: "C"})
	check()
	l.serve(change...)
	return l
}

// Record is the store's, which is opened after the service that reads from it.
func (l *lab) Record(commitLogOffset int64, size int32) (store.Slice, error) {
	return l.store.Record(commitLogOffset, size)
}

// serve builds the routes anew.
func (l *lab) serve(change ...func(*processor.PullOptions)) {
	differences, err := difference.NewSet("")
	if err != nil {
		l.t.Fatal(err)
	}
	opts := processor.PullOptions{
		Topics: l.topics, Groups: l.groups, Clients: l.clients, Offsets: l.offsets, Store: l.store, Polls: l.polls,
		Stats: l.stats, Wire: l.wire, Differences: differences, Log: quiet(), PullSettings: processor.PullSettings{LongPolling: true}, BrokerName: "broker-a",
		PropertyFilter: func() bool { return true },
	}
	for _, f := range change {
		f(&opts)
	}
	l.routes = nil
	for _, family := range []interface{ Routes() []remoting.Route }{
		processor.NewPull(opts),
		&processor.ConsumerOffset{Topics: l.topics, Groups: l.groups, Offsets: l.offsets, Clients: l.clients, Store: l.store},
		&processor.OffsetReset{
			BrokerName: "broker-a", ServerSide: func() bool { return !l.pushedResets }, Topics: l.topics, Groups: l.groups, Clients: l.clients,
			Offsets: l.offsets, Store: l.store, Polls: l.polls, Differences: differences, Log: quiet(),
		},
		&processor.Relay{BrokerName: "broker-a", Clients: l.clients, Topics: l.topics, Groups: l.groups, Store: l.store, Log: quiet()},
		&processor.QueueOffset{Store: l.store},
		&processor.View{Store: l.store, Differences: differences},
		&processor.ConsumerAdmin{Clients: l.clients, Offsets: l.offsets, Differences: differences},
		&processor.ConsumeStats{
			BrokerName: "broker-a", BrokerAddr: "127.0.0.1:10911", Clients: l.clients, Groups: l.groups, Offsets: l.offsets, Topics: l.topics,
			Store: l.store, Stats: l.stats, Time: l.time, Differences: differences,
		},
		&processor.QueueUnits{Clients: l.clients, Store: l.store},
		&processor.Housekeeping{Store: l.store, Kept: func(name string) bool { return l.topics[name] != nil }, Log: quiet()},
		&processor.TopicStats{BrokerName: "broker-a", Topics: l.topics, Store: l.store, Stats: l.stats},
		processor.NewRuntimeInfo(processor.RuntimeInfoOptions{
			Stats: l.stats, Store: l.store, Wire: l.wire, CommitLogDir: "/",
			Delays: func() []processor.LevelProgress { return []processor.LevelProgress{{Level: 18, Delivered: 0, Max: 2}} },
		}),
	} {
		l.routes = append(l.routes, family.Routes()...)
	}
}

// put stores a record and returns its place in the log.
func (l *lab) put(topicName string, queueID int32, tag, body string) store.PutResult {
	l.t.Helper()
	record := message.Record{
		Topic: topicName, QueueID: queueID, Body: []byte(body), BornHost: (&conn{}).RemoteAddr(), StoreHost: (&conn{}).LocalAddr(),
	}
	if tag != "" {
		record.Properties = message.PropertyAppend(nil, message.PropertyTags, tag)
	}
	res, _ := l.store.Put(&record, nil)
	if !res.OK() {
		l.t.Fatalf("put: %+v", res)
	}
	return res
}

// pull is a pull of queue 0 with its own subscription to everything; change has further fields.
func (l *lab) pull(c *conn, at int64, change ext) *remoting.Command {
	l.t.Helper()
	return request(l.t, l.routes, c, remoting.PullMessage, l.pullFields(at, change), "")
}

func (l *lab) pullFields(at int64, change ext) ext {
	fields := ext{
		"consumerGroup": "g", "topic": "T", "queueId": "0", "queueOffset": strconv.FormatInt(at, 10), "maxMsgNums": "32",
		"sysFlag": "4", "commitOffset": "0", "suspendTimeoutMillis": "0", "subVersion": "0", "subscription": "*", "expressionType": "TAG",
	}
	maps.Copy(fields, change)
	return fields
}

func wantPulled(t testing.TB, reply *remoting.Command, code int32, remark string, next, first, end int64, bodies ...string) {
	t.Helper()
	wantReply(t, reply, code, remark)
	for name, want := range map[string]int64{"nextBeginOffset": next, "minOffset": first, "maxOffset": end, "suggestWhichBrokerId": 0, "topicSysFlag": 0, "groupSysFlag": 0} {
		if got := field(reply, name); got != strconv.FormatInt(want, 10) {
			t.Errorf("%s is %s, want %d", name, got, want)
		}
	}
	var got []string
	for rest := reply.Body; len(rest) > 0; {
		view, err := message.ParseVerify(rest)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(view.Body))
		rest = rest[view.Size:]
	}
	if strings.Join(got, ",") != strings.Join(bodies, ",") {
		t.Errorf("messages %v, want %v", got, bodies)
	}
}

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

// join makes the group online with one subscription.
// join makes a client a member of group g, whose connection it returns.
func (l *lab) join(model, topicName, expression string, version int64) *conn {
	s := &client.Subscription{Topic: topicName, Expression: expression, Version: version}
	s.Compile()
	c := &conn{id: 99}
	l.clients.Heartbeat(c, &client.Beat{ClientID: "me", Version: remoting.Version, Consumers: []client.Consumer{{
		Group: "g", MessageModel: model, Subscriptions: []*client.Subscription{s}, Notify: true,
	}}})
	return c
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

// held is the change that makes a pull wait for seconds.
func held(seconds int, subscription string) ext {
	return ext{"sysFlag": "6", "suspendTimeoutMillis": strconv.Itoa(seconds * 1000), "subscription": subscription}
}

// answered waits for the answer to a held pull.
func (l *lab) answered(c *conn) *remoting.Command {
	l.t.Helper()
	var sent []remoting.Command
	eventually(l.t, "the answer of a held pull", func() bool {
		sent = c.take()
		return len(sent) > 0
	})
	if len(sent) != 1 || sent[0].Opaque != 7 {
		l.t.Fatalf("sent %+v, want one answer to request 7", sent)
	}
	return &sent[0]
}

func TestHeldPullIsWokenByAMatch(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "a", "before")
	c := &conn{id: 1}
	if reply := l.pull(c, 1, held(15, "a")); reply != nil {
		t.Fatalf("answered with %d at once, want it held", reply.Code)
	}
	l.put("T", 0, "b", "other tag")
	l.put("T", 1, "a", "other queue")
	if n := l.polls.Waiting(); n != 1 {
		t.Fatalf("%d pulls wait, want 1", n)
	}
	l.put("T", 0, "a", "wanted")
	wantPulled(t, l.answered(c), remoting.Success, "FOUND", 3, 0, 3, "wanted")
}

func TestHeldPullTimesOutOnTime(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	idle, passed := &conn{id: 1}, &conn{id: 2}
	l.put("T", 0, "a", "x")
	l.pull(idle, 1, held(3, "*"))
	l.pull(passed, 0, ext{"queueId": "1", "sysFlag": "6", "suspendTimeoutMillis": "5000", "subscription": "b"})
	eventually(t, "the first deadline", func() bool {
		at, armed := l.wire.Next()
		return armed && at == 1_003_000
	})
	l.wire.Set(1_002_999)
	if sent := idle.take(); len(sent) != 0 {
		t.Fatalf("answered before its time: %+v", sent)
	}
	l.wire.Set(1_003_000)
	wantPulled(t, l.answered(idle), remoting.PullNotFound, "OFFSET_OVERFLOW_ONE", 1, 0, 1)
	l.put("T", 1, "a", "not wanted")
	l.wire.Set(1_005_000)
	wantPulled(t, l.answered(passed), remoting.PullRetryImmediately, "NO_MATCHED_MESSAGE", 1, 0, 1)
}

func TestShortPollingIsASecond(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *processor.PullOptions) { o.LongPolling = false })
	c := &conn{id: 1}
	l.pull(c, 0, held(15, "*"))
	eventually(t, "the deadline", func() bool {
		at, armed := l.wire.Next()
		return armed && at == 1_001_000
	})
	l.wire.Set(1_001_000)
	wantPulled(t, l.answered(c), remoting.PullNotFound, "NO_MATCHED_LOGIC_QUEUE", 0, 0, 0)
}

func TestHeldPullDoesNotCommitTwice(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := &conn{id: 1}
	l.pull(c, 0, ext{"sysFlag": "7", "suspendTimeoutMillis": "15000", "commitOffset": "3"})
	l.offsets.Commit([]byte("g"), []byte("T"), 0, 8)
	l.put("T", 0, "", "x")
	l.answered(c)
	if got := l.offsets.Query([]byte("g"), []byte("T"), 0); got != 8 {
		t.Errorf("committed %d, want the later commit's 8", got)
	}
}

func TestClosedConnectionsPullIsDropped(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := &conn{id: 1}
	l.pull(c, 0, held(15, "*"))
	c.Close("")
	l.polls.ConnClosed(c.ID())
	if n := l.polls.Waiting(); n != 0 {
		t.Errorf("%d pulls wait, want none", n)
	}
	l.put("T", 0, "", "x")
	if sent := c.take(); len(sent) != 0 {
		t.Errorf("a closed connection is sent %+v", sent)
	}
}

// TestNothingIsLostBetweenReadAndParking sends while pulls park, again and again.
func TestNothingIsLostBetweenReadAndParking(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for i := range 200 {
		c := &conn{id: uint64(i)}
		sent := make(chan struct{})
		go func() {
			l.put("T", 0, "", fmt.Sprint(i))
			close(sent)
		}()
		reply := l.pull(c, int64(i), held(3600, "*"))
		<-sent
		if reply == nil {
			reply = l.answered(c)
		}
		wantPulled(t, reply, remoting.Success, "FOUND", int64(i+1), 0, int64(i+1), fmt.Sprint(i))
	}
}

func TestColdPullLeavesTheEventLoop(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *processor.PullOptions) { o.Limits.HotBytes = 2000 })
	for i := range 100 {
		l.put("T", 0, "", strconv.Itoa(i))
	}
	c := &conn{id: 1}
	if reply := l.pull(c, 0, nil); reply != nil {
		t.Fatal("a cold pull is answered on the event loop")
	}
	wantPulled(t, l.answered(c), remoting.Success, "FOUND", 8, 0, 100, "0", "1", "2", "3", "4", "5", "6", "7")
	if reply := l.pull(c, 99, nil); reply == nil {
		t.Error("a hot pull leaves the event loop")
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
