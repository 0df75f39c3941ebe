package processor_test

import (
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// putWith stores a record of T with a property a.
func (l *lab) putWith(a, body string) {
	l.t.Helper()
	record := message.Record{
		Topic: "T", Body: []byte(body), Properties: message.PropertyAppend(nil, "a", a), BornHost: (&conn{}).RemoteAddr(), StoreHost: (&conn{}).LocalAddr(),
	}
	if res, _ := l.store.Put(&record, nil); !res.OK() {
		l.t.Fatalf("put: %+v", res)
	}
}

func bySQL(expression string) ext { return ext{"expressionType": "SQL92", "subscription": expression} }

func TestPullBySQL(t *testing.T) {
	t.Parallel()
	var verdicts filter.Verdicts
	l := newLab(t, func(o *processor.PullOptions) { o.Verdicts = &verdicts })
	for i, a := range []string{"1", "10", "abc", "3.5"} {
		l.putWith(a, strconv.Itoa(i))
	}
	l.put("T", 0, "", "4")
	for _, tt := range []struct {
		expression string
		bodies     []string
	}{
		{"a > 2", []string{"1"}},
		{"a IS NULL", []string{"4"}},
		{"a NOT IN ('abc')", []string{"0", "1", "3"}},
		{"TRUE", []string{"0", "1", "2", "3", "4"}},
		{"b > 1", nil},
	} {
		code, remark := remoting.Success, "FOUND"
		if tt.bodies == nil {
			code, remark = remoting.PullRetryImmediately, "NO_MATCHED_MESSAGE"
		}
		wantPulled(t, l.pull(&conn{}, 0, bySQL(tt.expression)), code, remark, 5, 0, 5, tt.bodies...)
	}
	wantVerdicts(t, &verdicts, map[string]float64{"true": 10, "false": 6, "null": 7, "failed": 2})
}

func wantVerdicts(t *testing.T, verdicts *filter.Verdicts, want map[string]float64) {
	t.Helper()
	registry := prometheus.NewRegistry()
	if err := verdicts.Register(registry); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
	}
	if !maps.Equal(got, want) {
		t.Errorf("verdicts %v, want %v", got, want)
	}
}

func TestPullBySQL_IsBounded(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for i := range 1000 {
		l.putWith(strconv.Itoa(i/900), "x")
	}
	wantPulled(t, l.pull(&conn{}, 0, bySQL("a > 0")), remoting.PullRetryImmediately, "NO_MATCHED_MESSAGE", 800, 0, 1000)
	reply := l.pull(&conn{}, 800, bySQL("a > 0"))
	wantPulled(t, reply, remoting.Success, "FOUND", 932, 0, 1000, strings.Split(strings.Repeat("x", 32), "")...)
}

func TestPullBySQL_OfTheHeartbeat(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.putWith("1", "0")
	l.putWith("2", "1")
	join := func(expressionType, expression string, version int64) {
		s := &client.Subscription{Topic: "T", Expression: expression, ExpressionType: expressionType, Version: version}
		s.Compile()
		l.clients.Heartbeat(&conn{id: 99}, &client.Beat{ClientID: "me", Consumers: []client.Consumer{{
			Group: "g", MessageModel: client.Clustering, Subscriptions: []*client.Subscription{s},
		}}})
	}
	pull := func() *remoting.Command { return l.pull(&conn{}, 0, ext{"sysFlag": "0", "subscription": ""}) }
	join("SQL92", "a = 2", 1)
	wantPulled(t, pull(), remoting.Success, "FOUND", 2, 0, 2, "1")
	join("SQL92", "a = 2 AND", 2)
	wantReply(t, pull(), remoting.FilterDataNotExist, "The broker's consumer filter data is not exist!Your expression may be wrong! "+
		`parse the consumer's subscription failed: sql: "a = 2 AND" is no SQL92 expression: a value is expected at position 10`)
	join("REGEX", "a", 3)
	wantReply(t, pull(), remoting.FilterDataNotExist, "")
}

func TestPullBySQL_WithoutPropertyFilters(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(o *processor.PullOptions) { o.PropertyFilter = func() bool { return false } })
	const remark = "The broker does not support consumer to filter message by SQL92"
	wantReply(t, l.pull(&conn{}, 0, bySQL("a > 1")), remoting.SystemError, remark)
	wantReply(t, l.pull(&conn{}, 0, bySQL("a >")), remoting.SystemError, remark)
	wantReply(t, l.pull(&conn{}, 0, bySQL("")), remoting.SubscriptionParseFailed, "")
}

func TestHeldPullBySQL_IsWokenByProperties(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.putWith("1", "0")
	c := &conn{id: 1}
	change := held(20, "a = 7")
	change["expressionType"] = "SQL92"
	if reply := l.pull(c, 1, change); reply != nil {
		t.Fatalf("answered at once: %+v", reply)
	}
	l.putWith("1", "1")
	l.putWith("abc", "2")
	l.put("T", 0, "", "3")
	if n := l.polls.Waiting(); n != 1 {
		t.Fatalf("%d are held, want 1: what is not wanted wakes nobody", n)
	}
	l.putWith("7", "4")
	wantPulled(t, l.answered(c), remoting.Success, "FOUND", 5, 0, 5, "4")
}

// TestPullBySlowSQL_IsReadElsewhere looks at an expression of hundreds of parts, which the event loop
// does not evaluate: a message, wanted or not, wakes the held pull, which tells where to go on.
func TestPullBySlowSQL_IsReadElsewhere(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.putWith("1", "0")
	l.putWith("7", "1")
	c := &conn{id: 1}
	change := held(20, "a = 7"+strings.Repeat(" OR a = 8", 100))
	change["expressionType"] = "SQL92"
	if reply := l.pull(c, 0, change); reply != nil {
		t.Fatalf("answered by the event loop: %+v", reply)
	}
	wantPulled(t, l.answered(c), remoting.Success, "FOUND", 2, 0, 2, "1")
	if reply := l.pull(c, 2, change); reply != nil {
		t.Fatalf("not held at the end: %+v", reply)
	}
	if n := l.polls.Waiting(); n != 1 {
		t.Fatalf("%d are held, want 1", n)
	}
	l.putWith("1", "2")
	wantPulled(t, l.answered(c), remoting.PullRetryImmediately, "NO_MATCHED_MESSAGE", 3, 0, 3)
}

// BenchmarkPullBySQL pulls through 800 records that the filter does not want.
func BenchmarkPullBySQL(b *testing.B) {
	l := newLab(b)
	for range 801 {
		l.putWith("1", strings.Repeat("x", 128))
	}
	router := remoting.NewRouter(l.routes, remoting.RouterOptions{Log: quiet()})
	cmd := remoting.Command{Code: remoting.PullMessage}
	for key, value := range l.pullFields(0, bySQL("a > 1")) {
		cmd.Ext.Set(key, value)
	}
	frame := remoting.AppendCommand(nil, &cmd)
	var (
		ex remoting.Exchange
		c  = &conn{}
	)
	b.ReportAllocs()
	for b.Loop() {
		ex.Begin(c)
		if err := remoting.Decode(frame, &ex.Req); err != nil {
			b.Fatal(err)
		}
		router.Serve(&ex)
		if ex.Reply.Code != remoting.PullRetryImmediately {
			b.Fatal(ex.Reply.Remark)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/800, "ns/msg")
}
