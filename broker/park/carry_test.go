package park_test

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus/hooks/test"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/park"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

const logFile = 128 << 10

// lab is a Service over a store in memory whose log files go as soon as they are asked to.
type lab struct {
	*testing.T
	disk     *region.Memory
	sync     bool
	appender *appender.Appender
	store    *store.Store
	parked   *park.Service
	saved    func() // before the table is saved; may be nil
	refuses  string // a body that the store does not take for a while
	fails    bool   // the disk fails to read what was parked first
}

// fault is a page that the disk does not give.
type fault struct{}

func (fault) Error() string { return "a page cannot be read" }
func (fault) RuntimeError() {}
func (fault) Addr() uintptr { return 0 }

// readers read the lab's store, as far as its disk does.
type readers struct {
	*store.Store
	l *lab
}

func (r readers) Record(commitLogOffset int64, size int32) (store.Slice, error) {
	if r.l.fails && commitLogOffset == 0 {
		panic(fault{})
	}
	return r.Store.Record(commitLogOffset, size)
}

// Put implements park.Appender.
func (l *lab) Put(rec *message.Record, origin appender.Origin, done store.Completion) (store.PutResult, bool, error) {
	if string(rec.Body) == l.refuses {
		return store.PutResult{}, false, errors.New("busy")
	}
	return l.appender.Put(rec, origin, done)
}

func (l *lab) open() {
	l.Helper()
	log, _ := test.NewNullLogger()
	differences, err := difference.NewSet("")
	if err != nil {
		l.Fatal(err)
	}
	l.store, err = store.Open(store.Options{
		Memory: l.disk, Clock: clock.Real{}, Log: log, TagsCode: func(string, []byte) int64 { return 0 }, SyncFlush: l.sync, SyncFlushTimeoutMs: await.Patience.Milliseconds(),
		MaxMessageSize: 32 << 10, CommitLogFileSize: logFile, ConsumeQueueFileSize: 20 * 1000, MessageIndexDisabled: true,
		FlushIntervalMs: 1 << 40, FlushThoroughMs: 1 << 40, // the tests do it
		StoreHost:    netip.MustParseAddrPort("127.0.0.1:10911"),
		BeforeDelete: func(below int64, stop <-chan struct{}) error { return l.parked.Carry(below, logFile/4, stop) },
		Retention:    store.Retention{ReservedMs: -1, WarnRatio: 1, MaxRatio: 1, ForceRatio: 1, IntervalMs: 1_000_000, Keep: true},
	})
	if err != nil {
		l.Fatal(err)
	}
	l.appender = appender.New(l.store)
	l.parked, err = park.New(park.Options{
		Appender: l, Log: log, Differences: differences, Records: readers{l.store, l}, Table: savedDir{persist.In(l.disk, "config"), l},
		Pending: func() int64 {
			q := l.store.Queue([]byte(message.TopicParked), 0)
			return q.Max() - q.Min()
		},
	})
	if err != nil {
		l.Fatal(err)
	}
	if err := l.store.Start(); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) close() {
	l.Helper()
	if err := l.store.Close(); err != nil {
		l.Fatal(err)
	}
}

// savedDir tells the lab of what is saved.
type savedDir struct {
	persist.Dir
	l *lab
}

func (d savedDir) Save(name string, v any) error {
	if d.l.saved != nil {
		d.l.saved()
	}
	return d.Dir.Save(name, v)
}

func (l *lab) park(body string) {
	l.Helper()
	props := message.PropertyAppend(nil, message.PropertySource, "1:77:0")
	if err := l.parked.Park(&message.Record{Topic: "T", QueueID: 3, Body: []byte(body), Properties: props}, "timer", "no such topic"); err != nil {
		l.Fatal(err)
	}
}

// fill fills log files, durably, and returns where the last one begins.
func (l *lab) fill() (last int64) {
	l.Helper()
	for end := l.store.MaxCommitLogOffset() + 2*logFile; l.store.MaxCommitLogOffset() < end; {
		if _, _, err := l.appender.Put(&message.Record{Topic: "other", Body: make([]byte, 8<<10)}, appender.FromClient, nil); err != nil {
			l.Fatal(err)
		}
	}
	l.await("what was stored to be readable", func() bool { return l.store.Published() == l.store.MaxCommitLogOffset() })
	if err := l.store.Flush(); err != nil {
		l.Fatal(err)
	}
	return l.store.MaxCommitLogOffset() / logFile * logFile
}

// passOver fills log files and has all that are full deleted.
func (l *lab) passOver() {
	l.Helper()
	last := l.fill()
	l.store.DeleteExpired()
	l.await("the deletion", func() bool { return l.store.MinCommitLogOffset() >= last })
}

func (l *lab) await(what string, cond func() bool) {
	l.Helper()
	for deadline := time.Now().Add(time.Minute); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			l.Fatalf("%s did not happen", what)
		}
	}
}

// holds fails unless these bodies are parked, and nothing else.
func (l *lab) holds(want ...string) {
	l.Helper()
	var got []string
	err := l.parked.Each(0, func(p park.Parked, v *message.View) error {
		got = append(got, string(v.Body))
		if source, _ := message.PropertyGet(v.Properties, message.PropertySource); p.Topic != "T" || p.QueueID != 3 || p.Reason != "no such topic" || string(source) != "1:77:0" {
			l.Errorf("%+v, source %s", p, source)
		}
		return nil
	})
	if err != nil || !slices.Equal(got, want) || l.parked.Count() != int64(len(want)) {
		l.Errorf("parked %q, %d counted, want %q: %v", got, l.parked.Count(), want, err)
	}
}

// TestCarry keeps parked messages when the log goes that they lie in, again and again.
func TestCarry(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		l := &lab{T: t, disk: region.NewMemory(), sync: sync}
		l.open()
		for _, body := range []string{"a", "b", "c"} {
			l.park(body)
		}
		l.await("the last to be readable", func() bool { return l.parked.Count() == 3 })
		if err := l.parked.Drop(1); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			l.passOver()
			l.holds("a", "c")
		}
		l.close()
		l.open()
		l.holds("a", "c")
		l.close()
	}
}

// TestCarry_PowerCuts come before and after all that it writes down.
func TestCarry_PowerCuts(t *testing.T) {
	t.Parallel()
	l := &lab{T: t, disk: region.NewMemory()}
	l.open()
	l.park("a")
	l.park("b")
	var cuts []*region.Memory
	l.saved = func() { cuts = append(cuts, l.disk.Crash()) }
	l.passOver()
	l.saved = nil
	cuts = append(cuts, l.disk.Crash())
	l.close()
	if len(cuts) < 3 {
		t.Fatalf("%d cuts", len(cuts))
	}
	for _, cut := range cuts {
		l.disk = cut
		l.open()
		l.holds("a", "b")
		l.passOver()
		l.holds("a", "b")
		l.close()
	}
}

// TestCarry_Refused is refused in the midst, again and again: what was stored anew is not stored another
// time, nor there twice, by a start either.
func TestCarry_Refused(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		for _, sync := range []bool{false, true} {
			l := &lab{T: t, disk: region.NewMemory(), sync: sync, refuses: "none"}
			l.open()
			for _, body := range []string{"a", "b", "c"} {
				l.park(body)
			}
			below := l.fill()
			l.refuses = "b"
			for range 3 {
				if err := l.parked.Carry(below, logFile/4, nil); err == nil || !strings.Contains(err.Error(), "busy") {
					t.Errorf("carried: %v", err)
				}
			}
			if restart {
				l.close()
				l.open()
			}
			l.holds("b", "c", "a")
			l.refuses = "none"
			l.passOver()
			l.holds("b", "c", "a")
			l.close()
		}
	}
}

// TestCarry_UnreadNow keeps the log file of a message that the disk fails to read, until it does, or an
// operator gives the message up.
func TestCarry_UnreadNow(t *testing.T) {
	t.Parallel()
	for _, dropped := range []bool{false, true} {
		l := &lab{T: t, disk: region.NewMemory()}
		l.open()
		l.park("a")
		l.park("b")
		l.fails = true
		below := l.fill()
		for range 2 {
			if err := l.parked.Carry(below, logFile/4, nil); !errors.Is(err, park.ErrUnread) || !strings.Contains(err.Error(), "parked drop 0") {
				t.Errorf("carried: %v", err)
			}
		}
		var reasons []string
		if err := l.parked.Each(0, func(p park.Parked, v *message.View) error {
			reasons = append(reasons, p.Reason)
			message.AppendOffsetID(nil, v.StoreHost, v.CommitLogOffset) // as who shows it
			return nil
		}); err != nil || len(reasons) != 2 || !strings.Contains(reasons[0], "cannot be read") || reasons[1] != "no such topic" {
			t.Errorf("parked %q: %v", reasons, err)
		}
		if err := l.parked.Redrive(t.Context(), 0); !errors.Is(err, park.ErrUnread) {
			t.Errorf("driven again: %v", err)
		}
		want := []string{"a", "b"}
		if dropped {
			if err := l.parked.Drop(0); err != nil {
				t.Fatal(err)
			}
			want = want[1:]
		}
		l.fails = dropped
		l.passOver()
		l.holds(want...)
		l.close()
	}
}

// TestCarry_TooMuch keeps the log instead, until they are dropped.
func TestCarry_TooMuch(t *testing.T) {
	t.Parallel()
	l := &lab{T: t, disk: region.NewMemory()}
	l.open()
	defer l.close()
	l.park(strings.Repeat("x", 20<<10))
	l.park(strings.Repeat("y", 20<<10))
	l.fill()
	l.await("the oldest file to be kept", func() bool {
		l.store.DeleteExpired()
		pin := l.store.Stats().Pinned
		return pin != nil && strings.Contains(pin.What, "too many")
	})
	if l.store.MinCommitLogOffset() != 0 {
		t.Error("the log was deleted")
	}
	if err := l.parked.Drop(0); err != nil {
		t.Fatal(err)
	}
	l.passOver()
	l.holds(strings.Repeat("y", 20<<10))
}

// TestLoad_ForgetsWhatAPowerCutTook: who gets its offset is another message.
func TestLoad_ForgetsWhatAPowerCutTook(t *testing.T) {
	t.Parallel()
	l := &lab{T: t, disk: region.NewMemory()}
	l.open()
	l.park("a")
	if err := l.store.Flush(); err != nil {
		t.Fatal(err)
	}
	l.park("b")
	if err := l.parked.Drop(1); err != nil {
		t.Fatal(err)
	}
	cut := l.disk.Crash()
	l.close()
	l.disk = cut
	l.open()
	defer l.close()
	l.park("c")
	l.holds("a", "c")
}
