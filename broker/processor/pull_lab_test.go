package processor_test

import (
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
		&processor.RuntimeInfo{
			Stats: l.stats, Store: l.store, Wire: l.wire, CommitLogDir: "/",
			Delays: func() []processor.LevelProgress { return []processor.LevelProgress{{Level: 18, Delivered: 0, Max: 2}} },
		},
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
