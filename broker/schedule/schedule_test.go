package schedule_test

import (
	"flag"
	"fmt"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"
	"go.uber.org/goleak"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/park"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

func TestMain(m *testing.M) {
	// A check has dozens of restarts. -rapid.checks on the command line wins.
	if err := flag.Set("rapid.checks", "40"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

const startMs = 1_800_000_000_000

// reporter is what testing.TB and rapid.T have in common.
type reporter interface {
	Helper()
	Error(args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// lab is a schedule service over a store on a memory disk, its offsets in a temporary directory,
// with a clock that the test turns.
type lab struct {
	t        reporter
	dir      string
	disk     *region.Memory
	clock    *clock.Virtual
	store    *store.Store
	service  *schedule.Service
	appender *appender.Appender
	refuse   atomic.Pointer[string] // a topic whose puts are refused for a while
	parked   atomic.Int64
	missing  map[string]bool
	known    map[string]*topic.Config // belongs to the driver
	levels   schedule.Levels          // of table
	said     *test.Hook
	health   *health.Registry

	// Settings of the next open.
	tagsCode store.TagsCoder
	wire     clock.Clock
	door     schedule.Appender // nil: appender
	park     bool              // for good; otherwise what is parked is only counted
	table    string            // messageDelayLevel
	fileSize int               // of the log, bytes
	sync     bool              // SYNC_FLUSH
	window   int
	inOrder  bool
	stall    schedule.Stall
}

// noTimers refuses every message that waits for an instant of its own.
type noTimers struct{}

func (noTimers) Admit(rec *message.Record) error {
	if message.HasTimer(rec.Properties) {
		return &remoting.Error{Code: remoting.SystemError, Remark: "no timers"}
	}
	return nil
}

func newLab(t testing.TB) *lab {
	l := newLabIn(t, t.TempDir())
	l.open()
	return l
}

func newLabIn(t reporter, dir string) *lab {
	return &lab{t: t, dir: dir, disk: region.NewMemory(), clock: clock.NewVirtual(startMs), missing: map[string]bool{},
		known: map[string]*topic.Config{}, table: "1s 3s 1d", fileSize: 256 << 10,
		tagsCode: schedule.TagsCode, wire: clock.Real{}}
}

func (l *lab) open() {
	l.t.Helper()
	log, said := test.NewNullLogger()
	l.said = said
	levels, err := schedule.ParseLevels(l.table)
	if err != nil {
		l.t.Fatal(err)
	}
	l.levels = levels
	differences, err := difference.NewSet("")
	if err != nil {
		l.t.Fatal(err)
	}
	l.store, err = store.Open(store.Options{
		Memory: l.disk, Clock: l.clock, Log: log, TagsCode: l.tagsCode, SyncFlush: l.sync, SyncFlushTimeoutMs: await.Patience.Milliseconds(),
		MaxMessageSize: 64 << 10, CommitLogFileSize: l.fileSize, ConsumeQueueFileSize: 20 * 1000,
		StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"),
		OnArrival: func(a store.Arrival) { l.service.Arrived(a) },
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.appender = appender.New(l.store, func(r *message.Record, o appender.Origin) error {
		if refused := l.refuse.Load(); o == appender.FromScheduler && refused != nil && r.Topic == *refused {
			return &remoting.Error{Code: remoting.SystemBusy, Remark: "busy"}
		}
		return nil
	}, schedule.NewHook(schedule.HookOptions{
		Levels: schedule.NewLevelTable(levels), Enabled: true, Store: l.clock, AnyTime: noTimers{}, Differences: differences,
	}))
	l.health = health.NewRegistry()
	l.service, err = schedule.New(schedule.Options{
		Levels: schedule.NewLevelTable(levels), Enabled: true, Store: l.clock, Wire: l.wire, Log: l.store, Appender: l.theDoor(),
		Park: l.theParker(log, differences), Topics: l, Config: persist.At(l.dir + "/config"), SaveMs: 5, Window: l.window,
		Wheel: log, Health: l.health, Differences: differences, InOrder: l.inOrder, Stall: l.stall,
	})
	if err != nil {
		l.t.Fatal(err)
	}
	if err := l.store.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.service.Start()
}

func (l *lab) close() {
	l.t.Helper()
	if err := l.service.Close(); err != nil {
		l.t.Error(err)
	}
	if err := l.store.Close(); err != nil {
		l.t.Error(err)
	}
}

// Get implements schedule.Topics.
func (l *lab) Get(name []byte) *topic.Config {
	if l.missing[string(name)] {
		return nil
	}
	if l.known[string(name)] == nil {
		l.known[string(name)] = &topic.Config{TopicName: string(name)}
	}
	return l.known[string(name)]
}

func (l *lab) theDoor() schedule.Appender {
	if l.door != nil {
		return l.door
	}
	return l.appender
}

func (l *lab) theParker(log logrus.FieldLogger, differences *difference.Set) schedule.Parker {
	if !l.park {
		return l
	}
	p, err := park.New(park.Options{Appender: l.appender, Log: log, Differences: differences, Pending: func() int64 { return 0 }})
	if err != nil {
		l.t.Fatal(err)
	}
	return p
}

// Park implements schedule.Parker.
func (l *lab) Park(*message.Record, string, string) error {
	l.parked.Add(1)
	return nil
}

func (l *lab) send(topicName string, level int) {
	l.t.Helper()
	props := message.PropertyAppend(nil, message.PropertyDelay, strconv.Itoa(level))
	props = message.PropertyAppend(props, message.PropertyTags, "TagA")
	rec := message.Record{Topic: topicName, QueueID: 2, Body: fmt.Appendf(nil, "level %d", level), Properties: props}
	if _, _, err := l.appender.Put(&rec, appender.FromClient, nil); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) count(topicName string) int64 {
	if q := l.store.Queue([]byte(topicName), 2); q != nil {
		return q.Max()
	}
	return 0
}

func (l *lab) await(what string, cond func() bool) {
	l.t.Helper()
	await.Until(l.t, what, cond)
}

func TestService_DeliversAtTheDueMillisecond(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	l.send("T", 1)
	l.clock.Set(startMs + 999)
	// The driver is armed for the due instant; nothing may have been delivered before it.
	l.await("arming", func() bool { at, armed := l.clock.Next(); return armed && at == startMs+1000 })
	if n := l.count("T"); n != 0 {
		t.Fatalf("%d messages were delivered a millisecond early", n)
	}
	l.clock.Set(startMs + 1000)
	l.await("delivery", func() bool { return l.count("T") == 1 })

	u, _ := l.store.Queue([]byte("T"), 2).Unit(0)
	if u.TagsCode != message.TagsHash([]byte("TagA")) {
		t.Errorf("tagsCode %d is not the hash of the tags", u.TagsCode)
	}
	slice, err := l.store.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		t.Fatal(err)
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"DELAY": "1", "REAL_TOPIC": "T", "REAL_QID": "2", "TAGS": "TagA"} {
		if got, _ := message.PropertyGet(v.Properties, key); string(got) != want {
			t.Errorf("property %s is %q, want %q", key, got, want)
		}
	}
	source := fmt.Sprintf("%x:0:0", l.store.Epoch())
	if got, _ := message.PropertyGet(v.Properties, message.PropertySource); string(got) != source {
		t.Errorf("source identity %q, want %q", got, source)
	}
	if string(v.Body) != "level 1" || v.StoreTimestamp != startMs+1000 {
		t.Errorf("body %q, stored at %d", v.Body, v.StoreTimestamp)
	}
}

func TestService_ARefusedLevelDelaysNoOther(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	refused := "Busy"
	l.refuse.Store(&refused)
	l.send("Busy", 1)
	l.send("T", 2)
	l.clock.Set(startMs + 3000)
	l.await("the other level", func() bool { return l.count("T") == 1 })
	if l.count("Busy") != 0 {
		t.Fatal("a refused message was delivered")
	}
	l.refuse.Store(nil)
	l.clock.Set(startMs + 60_000)
	l.await("the refused message", func() bool { return l.count("Busy") == 1 })
	if n := l.parked.Load(); n != 0 {
		t.Fatalf("%d messages were parked for a passing refusal", n)
	}
}

func TestService_ParksWhatItsTargetRefusesForGood(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	l.missing["Gone"] = true
	l.send("Gone", 1)
	l.send("T", 1)
	l.clock.Set(startMs + 1000)
	l.await("the message behind", func() bool { return l.count("T") == 1 })
	if n := l.parked.Load(); n != 1 {
		t.Fatalf("%d messages were parked, want 1", n)
	}
}

func TestService_DeliversToATopicThatOnlyTheTableLost(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	l.send("Lost", 1)
	l.send("Lost", 2)
	l.clock.Set(startMs + 1000)
	l.await("the first message", func() bool { return l.count("Lost") == 1 })
	l.close()
	l.missing["Lost"] = true
	l.open()
	l.clock.Set(startMs + 3000)
	l.await("the second message", func() bool { return l.count("Lost") == 2 })
	if n := l.parked.Load(); n != 0 {
		t.Fatalf("%d messages were parked", n)
	}
}

func TestService_DeliversToAQueueThatIs(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	l.known["Smaller"] = &topic.Config{TopicName: "Smaller", ReadQueueNums: 2, WriteQueueNums: 2}
	l.send("Smaller", 1)
	l.clock.Set(startMs + 1000)
	l.await("the message of queue 2", func() bool {
		q := l.store.Queue([]byte("Smaller"), 0)
		return q != nil && q.Max() == 1
	})
	if n := l.count("Smaller"); n != 0 {
		t.Errorf("%d messages are where no consumer reads", n)
	}
}

func TestService_CleanRestart_DeliversWhatPends(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for range 10 {
		l.send("T", 1)
		l.send("T", 2)
	}
	l.clock.Set(startMs + 1000)
	l.await("level 1", func() bool { return l.count("T") == 10 })
	l.close()
	l.clock.Set(startMs + 100_000)
	l.open()
	defer l.close()
	l.await("level 2", func() bool { return l.count("T") == 20 })
	l.send("T", 1)
	l.clock.Set(startMs + 101_000)
	l.await("a new message", func() bool { return l.count("T") == 21 })
}

func TestHook_ClampsAndRefuses(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	for name, c := range map[string]struct {
		props []string
		topic string // where it is stored, "" for a refusal
		queue int32
		code  int32
	}{
		"beyond the highest":   {[]string{"DELAY", "9"}, message.TopicSchedule, 2, 0},
		"none":                 {nil, "T", 0, 0},
		"zero":                 {[]string{"DELAY", "0"}, "T", 0, 0},
		"negative":             {[]string{"DELAY", "-1"}, "T", 0, 0},
		"no number":            {[]string{"DELAY", "abc"}, "", 0, remoting.MessageIllegal},
		"timer":                {[]string{"TIMER_DELAY_SEC", "5"}, "", 0, remoting.SystemError},
		"the level wins":       {[]string{"TIMER_DELAY_SEC", "5", "DELAY", "2"}, message.TopicSchedule, 1, 0},
		"forged due and level": {[]string{message.PropertyDueMs, "1", "DELAY", "1"}, message.TopicSchedule, 0, 0},
	} {
		var props []byte
		for i := 0; i < len(c.props); i += 2 {
			props = message.PropertyAppend(props, c.props[i], c.props[i+1])
		}
		rec := message.Record{Topic: "T", Body: []byte("x"), Properties: props}
		_, _, err := l.appender.Put(&rec, appender.FromClient, nil)
		if c.topic == "" {
			refusal, ok := err.(*remoting.Error)
			if !ok || refusal.Code != c.code {
				t.Errorf("%s: %v, want code %d", name, err, c.code)
			}
			continue
		}
		if err != nil || rec.Topic != c.topic || rec.QueueID != c.queue {
			t.Errorf("%s: stored in %s/%d, %v, want %s/%d", name, rec.Topic, rec.QueueID, err, c.topic, c.queue)
		}
		if _, timer := message.PropertyGet(rec.Properties, "TIMER_DELAY_SEC"); timer {
			t.Errorf("%s: the timer property is stored", name)
		}
		if due, ok := message.PropertyGet(rec.Properties, message.PropertyDueMs); ok && string(due) == "1" {
			t.Errorf("%s: a client set the due instant", name)
		}
	}
}

func TestParseLevels(t *testing.T) {
	t.Parallel()
	levels, err := schedule.ParseLevels(schedule.DefaultLevels)
	if err != nil || len(levels) != 18 || levels.DelayMs(1) != 1000 || levels.DelayMs(18) != 7_200_000 {
		t.Fatalf("default levels: %v, %v", levels, err)
	}
	for _, bad := range []string{"", "1s  5s", "7m8m", "5", "s", "1x", "-1s", "0s", "9223372036854775807d"} {
		if levels, err := schedule.ParseLevels(bad); err == nil {
			t.Errorf("ParseLevels(%q) = %v, want an error", bad, levels)
		}
	}
}
