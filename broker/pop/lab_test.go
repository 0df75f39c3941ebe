package pop_test

import (
	"flag"
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/sirupsen/logrus/hooks/test"
	"go.uber.org/goleak"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

func TestMain(m *testing.M) {
	// A check has dozens of restarts. -rapid.checks on the command line wins.
	for name, value := range map[string]string{"rapid.checks": "25", "rapid.steps": "60"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
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

// lab is a pop service over a store on a memory disk, with a clock that the test turns.
type lab struct {
	t        reporter
	disk     *region.Memory
	clock    *clock.Virtual
	store    *store.Store
	topics   *topic.Table
	offsets  *offset.Table
	appender *appender.Appender
	service  *pop.Service
	said     *test.Hook
	health   *health.Registry
	visible  atomic.Int64 // how often a queue was told to be visible

	sync        bool                   // SYNC_FLUSH
	afterPut    atomic.Pointer[func()] // runs after each copy that is put
	refuse      atomic.Bool
	unsaved     atomic.Bool // consumer offsets cannot be saved
	journalFile int         // bytes
	tree        region.FS   // of the journal
	ownTree     bool        // that is not the store's
}

func newLab(t reporter) *lab {
	return &lab{t: t, disk: region.NewMemory(), clock: clock.NewVirtual(startMs), journalFile: 64 << 10}
}

func opened(t testing.TB) *lab {
	l := newLab(t)
	l.open()
	t.Cleanup(l.close)
	return l
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) open() {
	l.t.Helper()
	log, said := test.NewNullLogger()
	l.said, l.health = said, health.NewRegistry()
	differences, err := difference.NewSet("")
	l.must(err)
	l.store, err = store.Open(store.Options{
		Memory: l.disk, Clock: l.clock, Log: log, TagsCode: schedule.TagsCode, SyncFlush: l.sync, SyncFlushTimeoutMs: await.Patience.Milliseconds(), MessageIndexDisabled: true,
		MaxMessageSize: 64 << 10, CommitLogFileSize: 1 << 20, ConsumeQueueFileSize: 20 * 1000,
		StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"), OnArrival: func(a store.Arrival) { l.service.Arrived(a) },
	})
	l.must(err)
	tables := persist.In(l.disk, "config")
	l.topics, err = topic.New(topic.Options{Store: l.clock, Log: log, Differences: differences, Config: tables, AutoCreate: true})
	l.must(err)
	groups, err := subscription.New(subscription.Options{Store: l.clock, Log: log, Config: tables, AutoCreate: true})
	l.must(err)
	l.offsets, err = offset.New(offset.Options{
		Wire: clock.Real{}, Store: l.clock, Log: log, Config: tables, Differences: differences, End: l.end,
		Before: func() error {
			if l.unsaved.Load() {
				return fmt.Errorf("refused")
			}
			if l.service == nil {
				return nil
			}
			return l.service.Save()
		},
	})
	l.must(err)
	l.appender = appender.New(l.store)
	if l.tree == nil || !l.ownTree {
		l.tree = l.store.FS()
	}
	l.service, err = pop.New(pop.Options{
		Visible: func(pop.Key) { l.visible.Add(1) }, Store: l.clock, Wire: clock.Real{}, Log: l.store, Appender: l,
		Topics: l.topics, Groups: groups, Offsets: l.offsets, Cluster: "C", Config: tables, Park: l, Logger: log, Health: l.health, Differences: differences,
		StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"), FS: l.tree, Sync: l.sync, JournalFileSize: l.journalFile,
	})
	l.must(err)
	l.must(l.store.Start())
	l.offsets.Start()
	l.service.Start()
}

func (l *lab) end(topicName string, queueID int32) int64 {
	if q := l.store.Queue([]byte(topicName), queueID); q != nil {
		return q.Max()
	}
	return 0
}

func (l *lab) close() {
	l.t.Helper()
	for _, end := range []func() error{l.service.Close, l.offsets.Close, l.store.Close} {
		l.must(end())
	}
}

// Put implements pop.Appender.
func (l *lab) Put(rec *message.Record, origin appender.Origin, done store.Completion) (store.PutResult, bool, error) {
	if l.refuse.Load() {
		return store.PutResult{}, false, fmt.Errorf("refused")
	}
	res, pending, err := l.appender.Put(rec, origin, done)
	if after := l.afterPut.Load(); after != nil {
		(*after)()
	}
	return res, pending, err
}

// Park implements pop.Parker.
func (l *lab) Park(rec *message.Record, _, reason string) error {
	l.t.Fatalf("a message of %s is parked: %s", rec.Topic, reason)
	return nil
}

// send stores messages in a queue.
func (l *lab) send(topicName string, queueID int32, bodies ...string) {
	l.t.Helper()
	for _, body := range bodies {
		var props []byte
		rec := message.Record{
			Topic: topicName, QueueID: queueID, Body: []byte(body), Properties: message.PropertyAppend(props, message.PropertyTags, "A"),
			BornHost: netip.MustParseAddrPort("127.0.0.1:1"), StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"), BornTimestamp: l.clock.NowMillis(),
		}
		done := make(landed, 1)
		res, pending, err := l.appender.Put(&rec, appender.FromClient, done)
		l.must(err)
		if pending {
			res = <-done
		}
		if !res.OK() {
			l.t.Fatalf("put: %v", res.Status)
		}
	}
}

type landed chan store.PutResult

func (c landed) PutDone(res store.PutResult) { c <- res }

// handle is what a client brings back.
type handle struct {
	key             pop.Key
	offset, popTime int64
	body            string
	times           int32
	props           string
}

// answered waits for what may be pending.
func (l *lab) answered(call func(done func(error)) (pending bool, err error)) {
	l.t.Helper()
	wait := make(chan error, 1)
	pending, err := call(func(err error) { wait <- err })
	l.must(err)
	if pending {
		l.must(<-wait)
	}
}

// pop takes up to n messages of a queue, as a processor does.
func (l *lab) pop(k pop.Key, n int, invisibleMs int64) []handle {
	return l.popAs(k, n, invisibleMs, false, "")
}

func (l *lab) popAs(k pop.Key, n int, invisibleMs int64, order bool, attempt string) (handles []handle) {
	l.t.Helper()
	q := l.store.Queue([]byte(k.Topic), k.QueueID)
	if q == nil {
		return nil
	}
	w, ok, err := l.service.Acquire(k, func() int64 { return 0 })
	l.must(err)
	if !ok {
		l.t.Fatal("somebody else pops")
	}
	defer w.Release()
	now := l.clock.NowMillis()
	if order {
		if _, blocked := w.Blocked(attempt, now); blocked {
			return nil
		}
	}
	p := pop.Pop{PopTime: now, InvisibleMs: invisibleMs, Order: order, AttemptID: attempt, Next: w.Cursor()}
	if p.Next > q.Max() || p.Next < q.Min() {
		l.must(w.Move(q.Max()))
		return nil
	}
	for ; p.Next < q.Max() && len(p.Offsets) < n; p.Next++ {
		h := handle{key: k, offset: p.Next, popTime: now}
		if order {
			h.times = int32(w.Counts(attempt, p.Next))
		}
		l.read(q, &h)
		p.Offsets = append(p.Offsets, p.Next)
		handles = append(handles, h)
	}
	if len(handles) > 0 {
		l.answered(func(done func(error)) (bool, error) { return w.Handed(&p, done) })
	}
	return handles
}

func (l *lab) read(q *store.ConsumeQueue, h *handle) {
	l.t.Helper()
	u, ok := q.Unit(h.offset)
	if !ok {
		l.t.Fatalf("unit %d cannot be read", h.offset)
	}
	slice, err := l.store.Record(u.CommitLogOffset, u.Size)
	l.must(err)
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	l.must(err)
	h.body, h.props = string(v.Body), string(v.Properties)
	h.times = max(h.times, v.ReconsumeTimes)
}

func (l *lab) ack(h handle) (acked bool) {
	l.t.Helper()
	l.answered(func(done func(error)) (pending bool, err error) {
		acked, pending, err = l.service.Ack(h.key, h.offset, h.popTime, done)
		return pending, err
	})
	return acked
}

func (l *lab) change(h handle, invisibleMs int64) (handle, bool) {
	l.t.Helper()
	var res pop.Changed
	l.answered(func(done func(error)) (pending bool, err error) {
		res, pending, err = l.service.ChangeInvisible(h.key, &pop.Change{
			Offset: h.offset, PopTime: h.popTime, Now: l.clock.NowMillis(), InvisibleMs: invisibleMs,
		}, done)
		return pending, err
	})
	h.popTime = res.PopTime
	return h, res.OK
}

// settle waits until what is due is brought back, and returns when the next message is.
func (l *lab) settle() int64 {
	l.t.Helper()
	ctx, cancel := await.Context()
	defer cancel()
	next, err := l.service.Settle(ctx)
	l.must(err)
	return next
}

// turn turns the clock.
func (l *lab) turn(ms int64) {
	l.t.Helper()
	l.clock.Set(l.clock.NowMillis() + ms)
	l.settle()
}
