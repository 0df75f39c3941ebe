package timer_test

import (
	"flag"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"
	"go.uber.org/goleak"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/park"
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/broker/timer"
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
	if err := flag.Set("rapid.checks", "12"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

const startMs = 1_800_000_000_000

// reporter is what testing.TB and rapid.T have in common.
type reporter interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// walled is a virtual clock beside a wall that the test sets.
type walled struct {
	*clock.Virtual
	ahead atomic.Int64 // of the wall, ms
}

// WallMillis is what the wall reads.
func (w *walled) WallMillis() int64 { return w.NowMillis() + w.ahead.Load() }

// lab is a timer service over a store on a memory disk, with a clock that the test turns.
type lab struct {
	t        reporter
	disk     *region.Memory
	clock    *clock.Virtual
	wall     *walled // nil: the clock has no other
	store    *store.Store
	service  *timer.Service
	appender *appender.Appender
	health   *health.Registry
	said     *test.Hook

	refuse  atomic.Pointer[string] // a topic whose puts are refused for a while
	mu      sync.Mutex             // guards missing and known
	missing map[string]bool
	known   map[string]*topic.Config

	// Settings of the next open.
	sync    bool // SYNC_FLUSH
	inOrder bool
	virtual bool // absolute instants are decided by message time
	saveMs  int64
	maxDays int64
	off     bool // timerWheelEnable=false
	door    func(timer.Appender) timer.Appender
	files   func(region.FS) region.FS // what the service has of the disk; nil: all
	stall   timer.Stall
	metrics prometheus.Registerer
	asleep  bool // not started
	pin     bool // log files go when they are expired, which is at once
	flushMs int64
	file    int // size of the log's files, bytes
	largest int // maxMessageSize, bytes
}

func newLabIn(t reporter) *lab {
	return &lab{t: t, disk: region.NewMemory(), clock: clock.NewVirtual(startMs), missing: map[string]bool{},
		known: map[string]*topic.Config{}, inOrder: true, saveMs: 20, flushMs: 10, maxDays: 3660, file: 4 << 20, largest: 64 << 10}
}

func newLab(t testing.TB) *lab {
	l := newLabIn(t)
	l.open()
	return l
}

func (l *lab) time() clock.Clock {
	if l.wall != nil {
		return l.wall
	}
	return l.clock
}

func (l *lab) open() {
	l.t.Helper()
	log, said := test.NewNullLogger()
	log.SetLevel(logrus.DebugLevel)
	l.said = said
	differences, err := difference.NewSet("")
	if err != nil {
		l.t.Fatal(err)
	}
	l.store, err = store.Open(store.Options{
		FS: l.disk, Clock: l.time(), Wire: clock.Real{}, Log: log, TagsCode: schedule.TagsCode, SyncFlush: l.sync, SyncFlushTimeoutMs: await.Patience.Milliseconds(),
		MaxMessageSize: l.largest, CommitLogFileSize: l.file, ConsumeQueueFileSize: 20 * 1000, MessageIndexDisabled: true,
		StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"), FlushIntervalMs: l.flushMs,
		OnArrival: func(a store.Arrival) { l.service.Arrived(a) }, Pin: l.pinner,
		Retention: store.Retention{ReservedMs: -1, WarnRatio: 1, MaxRatio: 1, ForceRatio: 1, IntervalMs: 1_000_000, Keep: !l.pin},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	levels, err := schedule.ParseLevels(schedule.DefaultLevels)
	if err != nil {
		l.t.Fatal(err)
	}
	l.appender = appender.New(l.store, func(r *message.Record, o appender.Origin) error {
		if refused := l.refuse.Load(); o == appender.FromScheduler && refused != nil && r.Topic == *refused {
			return &remoting.Error{Code: remoting.SystemBusy, Remark: "busy"}
		}
		return nil
	}, schedule.NewHook(schedule.HookOptions{Levels: schedule.NewLevelTable(levels), Enabled: true, Store: l.time(), Differences: differences,
		AnyTime: timer.NewAdmission(timer.AdmissionOptions{
			Enabled: !l.off, MaxDelayMs: l.maxDays * 86_400_000, PrecisionMs: 1000, CongestNum: 1 << 31, Virtual: l.virtual, Store: l.time(), Differences: differences,
		})}))
	parked, err := park.New(park.Options{Appender: l.appender, Log: log, Differences: differences, Pending: func() int64 { return 0 }})
	if err != nil {
		l.t.Fatal(err)
	}
	var door timer.Appender = l.appender
	if l.door != nil {
		door = l.door(l.appender)
	}
	var files region.FS = l.disk
	if l.files != nil {
		files = l.files(files)
	}
	l.health = health.NewRegistry()
	l.service, err = timer.New(timer.Options{
		Enabled: !l.off, PrecisionMs: 1000, Store: l.time(), Wire: clock.Real{}, Log: l.store, FS: files, Appender: door,
		Park: parked, Topics: l, SaveMs: l.saveMs, Logger: log, Health: l.health, Differences: differences, InOrder: l.inOrder,
		Stall: l.stall, Metrics: l.metrics,
	})
	if err != nil {
		l.t.Fatal(err)
	}
	if err := l.store.Start(); err != nil {
		l.t.Fatal(err)
	}
	if !l.asleep {
		l.service.Start()
	}
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

// Get implements timer.Topics.
func (l *lab) Get(name []byte) *topic.Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.missing[string(name)] {
		return nil
	}
	if l.known[string(name)] == nil {
		l.known[string(name)] = &topic.Config{TopicName: string(name)}
	}
	return l.known[string(name)]
}

// property is a name and its value.
type property [2]string

func delay(ms int64) property { return property{"TIMER_DELAY_MS", strconv.FormatInt(ms, 10)} }
func at(ms int64) property    { return property{"TIMER_DELIVER_MS", strconv.FormatInt(ms, 10)} }
func key(k string) property   { return property{"UNIQ_KEY", k} }
func cancels(k string) property {
	return property{"TIMER_DEL_UNIQKEY", k}
}

// send stores a message and waits until it is readable.
func (l *lab) send(topicName, body string, props ...property) message.Record {
	l.t.Helper()
	rec, err := l.trySend(topicName, body, props...)
	if err != nil {
		l.t.Fatal(err)
	}
	return rec
}

func (l *lab) trySend(topicName, body string, props ...property) (message.Record, error) {
	var text []byte
	for _, p := range props {
		text = message.PropertyAppend(text, p[0], p[1])
	}
	rec := message.Record{Topic: topicName, QueueID: 2, Body: []byte(body), Properties: text}
	if _, _, err := l.appender.Put(&rec, appender.FromClient, nil); err != nil {
		return rec, err
	}
	l.await("the group commit", func() bool {
		q := l.store.Queue([]byte(rec.Topic), rec.QueueID)
		return q != nil && q.Max() > rec.QueueOffset
	})
	return rec, nil
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

// awaitHealth waits for a state of the timers and a part of its reason. On a busy machine who asks may be
// told what was known before.
func (l *lab) awaitHealth(state health.State, reason string) {
	l.t.Helper()
	l.await(fmt.Sprintf("health %v, %q", state, reason), func() bool {
		r := l.health.Report().Parts["timers"]
		return r.State == state && strings.Contains(r.Reason, reason)
	})
}

// settle is the service's answer; the test ends when it has none in time.
func (l *lab) settle() int64 {
	l.t.Helper()
	ctx, cancel := await.Context()
	defer cancel()
	next, err := l.service.Settle(ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	return next
}

// delivered is a message in its real topic.
type delivered struct {
	body   string
	stored int64 // ms
	source string
}

func (l *lab) read(topicName string) []delivered {
	l.t.Helper()
	var list []delivered
	for offset := range l.count(topicName) {
		u, _ := l.store.Queue([]byte(topicName), 2).Unit(offset)
		slice, err := l.store.Record(u.CommitLogOffset, u.Size)
		if err != nil {
			l.t.Fatal(err)
		}
		v, err := message.Parse(slice.Bytes)
		if err != nil {
			l.t.Fatal(err)
		}
		source, _ := message.PropertyGet(v.Properties, message.PropertySource)
		list = append(list, delivered{string(v.Body), v.StoreTimestamp, string(source)})
		slice.Release()
	}
	return list
}

func (l *lab) bodies(topicName string) string {
	l.t.Helper()
	text := ""
	for _, d := range l.read(topicName) {
		text += fmt.Sprintf("%s+%d ", d.body, d.stored-startMs)
	}
	return text
}
