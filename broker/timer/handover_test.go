package timer_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/timer/rocketmq"
)

// real plays the real broker on a store that no service has open.
type real struct {
	l   *lab
	log []byte // its timer log, of one file
}

// put stores a record of the timer topic as the real broker does.
func (r *real) put(s *store.Store, outMs int64, body string, props ...property) message.Record {
	r.l.t.Helper()
	text := message.PropertyAppend(nil, message.PropertyTimerOutMs, strconv.FormatInt(outMs, 10))
	for _, p := range append(props, property{"REAL_TOPIC", "T"}, property{"REAL_QID", "2"}) {
		text = message.PropertyAppend(text, p[0], p[1])
	}
	rec := message.Record{Topic: message.TopicTimer, Body: []byte(body), Properties: text}
	if res, _ := s.Put(&rec, nil); !res.OK() {
		r.l.t.Fatalf("%+v", res)
	}
	return rec
}

// enqueue gives a record its unit of the timer log.
func (r *real) enqueue(s *store.Store, rec message.Record, slotMs int64) {
	r.l.t.Helper()
	u, ok := s.Queue([]byte(message.TopicTimer), 0).Unit(rec.QueueOffset)
	if !ok {
		r.l.t.Fatal("the record has no unit")
	}
	b := binary.BigEndian.AppendUint32(nil, 52)
	b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, math64), 1)
	b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, uint64(startMs)), uint32(slotMs-startMs))
	b = binary.BigEndian.AppendUint64(b, uint64(u.CommitLogOffset))
	b = binary.BigEndian.AppendUint32(b, uint32(u.Size))
	r.log = append(r.log, append(b, make([]byte, 12)...)...)
}

const math64 = 1<<64 - 1 // -1: no unit before it in its slot

// leave writes its files: all slots before readMs are read, and the queue up to an offset.
func (r *real) leave(readMs, queueOffset int64) {
	r.l.t.Helper()
	b := make([]byte, 4096)
	for i, n := range []int64{readMs, int64(len(r.log)), queueOffset, queueOffset} {
		binary.BigEndian.PutUint64(b[8*i:], uint64(n))
	}
	files := map[string][]byte{"timerwheel": make([]byte, 64<<10), rocketmq.CheckpointFile: b}
	if len(r.log) > 0 {
		files["timerlog/00000000000000000000"] = append(slices.Clone(r.log), make([]byte, 520)...)
	}
	for name, b := range files {
		if err := r.l.disk.WriteFile(name, b); err != nil {
			r.l.t.Fatal(err)
		}
	}
}

// open opens the store without a service.
func (r *real) open() *store.Store {
	r.l.t.Helper()
	r.l.off = true
	r.l.open()
	r.l.off = false
	if err := r.l.service.Close(); err != nil {
		r.l.t.Fatal(err)
	}
	return r.l.store
}

// TestService_TakesOverFromTheRealBroker delivers what pends there, each at its instant and once, and
// keeps the real broker out until nothing pends.
func TestService_TakesOverFromTheRealBroker(t *testing.T) {
	t.Parallel()
	l := newLabIn(t)
	r := &real{l: l}
	s := r.open()
	for i, p := range []struct {
		out   int64
		props []property
	}{
		{-2000, nil}, // read
		{0, []property{at(startMs + 700)}},
		{2000, []property{delay(2300)}},
		{2000, []property{{"TIMER_DELAY_SEC", "9"}}}, // more than its slot: it was rolled
		{3000, []property{key("K"), at(startMs + 3500)}},
		{3000, []property{key("C"), cancels("K"), at(startMs + 3001)}},
		{9 * 3600_000, []property{at(startMs + 9*3600_000 + 5)}},
	} {
		r.enqueue(s, r.put(s, startMs+p.out, fmt.Sprint(i), p.props...), startMs+p.out)
	}
	r.put(s, startMs+4000, "not enqueued", at(startMs+4100))
	r.leave(startMs-1000, 7)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l.open()
	l.settle()
	l.wantBlocked(true)
	if n := l.service.Count(); n != 5 { // the first cancel has met its message
		t.Errorf("%d pend, want 5", n)
	}
	l.clock.Set(startMs + 1000)
	l.settle()
	l.close()
	l.wantBlocked(true)
	l.disk = l.disk.PowerCut(rand.New(rand.NewPCG(1, 2)))
	l.open()
	for next := l.settle(); next < never; next = l.settle() {
		l.clock.Set(next)
	}
	if got, want := l.bodies("T"), "1+1000 2+2300 3+3000 not enqueued+4100 6+32400005 "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	l.clock.Set(l.clock.NowMillis() + 2000)
	l.settle()
	l.close()
	l.wantBlocked(false)
	if c, ok, err := rocketmq.ReadCheckpoint(l.disk); !ok || err != nil || c.QueueOffset != 8 || c.MasterOffset != 8 || c.LogPos != 0 {
		t.Errorf("%+v, %t, %v", c, ok, err)
	}
}

const never = 1<<63 - 1

func (l *lab) wantBlocked(want bool) {
	l.t.Helper()
	if got, err := rocketmq.Blocked(l.disk); got != want || err != nil {
		l.t.Errorf("the real broker is kept out: %t, %v, want %t", got, err, want)
	}
	_, err := l.disk.ReadFile("timerwheel")
	if gone := errors.Is(err, fs.ErrNotExist); gone == want {
		l.t.Errorf("the wheel is gone: %t", gone)
	}
}

// TestService_ThereAndBack has the real broker deliver and accept between two of our lives.
func TestService_ThereAndBack(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.send("T", "a", delay(500))
	l.settle()
	l.wantBlocked(true)
	l.clock.Set(startMs + 500)
	l.settle()
	l.close() // within the second that "a" was due in
	l.wantBlocked(false)
	r := &real{l: l}
	s := r.open()
	r.put(s, startMs+600, "delivered by the real broker")
	r.enqueue(s, r.put(s, startMs+3000, "b", at(startMs+3200)), startMs+3000)
	r.leave(startMs+2000, 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l.open()
	l.clock.Set(startMs + 4000)
	l.settle()
	if got, want := l.bodies("T"), "a+500 b+4000 "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	l.close()
	l.wantBlocked(false)
}

// TestService_LosesTheCheckpointOfATakeOver reads the timer queue again, but for what the real broker
// has delivered.
func TestService_LosesTheCheckpointOfATakeOver(t *testing.T) {
	t.Parallel()
	l := newLabIn(t)
	r := &real{l: l}
	s := r.open()
	for i := range int64(5) {
		out := startMs + (i-3)*1000
		r.enqueue(s, r.put(s, out, fmt.Sprint(i), at(out+500)), out)
	}
	r.leave(startMs, 5)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l.open()
	l.clock.Set(startMs + 600)
	l.settle()
	l.close()
	if err := l.disk.Remove("timer/checkpoint"); err != nil {
		t.Fatal(err)
	}
	l.open()
	l.clock.Set(startMs + 3000)
	l.settle()
	if got, want := l.bodies("T"), "3+600 4+3000 "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	l.close()
}

// TestService_WithoutTimersNobodyIsKeptOut leaves alone what the real broker needs.
func TestService_WithoutTimersNobodyIsKeptOut(t *testing.T) {
	t.Parallel()
	l := newLabIn(t)
	r := &real{l: l}
	s := r.open()
	r.enqueue(s, r.put(s, startMs-5000, "delivered"), startMs-5000)
	r.leave(startMs, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l.open()
		l.settle()
		l.close()
		if b, err := l.disk.ReadFile("timerwheel"); len(b) != 64<<10 || err != nil {
			t.Errorf("the wheel has %d bytes, %v", len(b), err)
		}
		if l.count("T") != 0 {
			t.Error("a message was delivered again")
		}
	}
}

// TestService_TakesOverAfterFailures goes on where it was when the disk had no room.
func TestService_TakesOverAfterFailures(t *testing.T) {
	t.Parallel()
	l := newLabIn(t)
	r := &real{l: l}
	s := r.open()
	for i := range 600 {
		out := startMs + int64(i+1)*5000
		r.enqueue(s, r.put(s, out, "x", at(out+500)), out)
	}
	r.leave(startMs, 600)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	space, err := l.disk.Space()
	if err != nil {
		t.Fatal(err)
	}
	l.disk.SetLimit(space.Used + 8<<10)
	l.open()
	l.await("the disk is full", func() bool {
		for _, e := range l.said.AllEntries() {
			if strings.Contains(e.Message, "cannot be taken in") {
				return true
			}
		}
		return false
	})
	if got, err := rocketmq.Blocked(l.disk); got || err != nil {
		t.Errorf("the real broker is kept out of what is not taken over: %t, %v", got, err)
	}
	if err := errors.Join(l.service.Close(), l.store.Close()); err != nil {
		t.Errorf("a close on a full disk, where nothing is lost: %v", err)
	}
	l.disk.SetLimit(0)
	l.open()
	l.settle()
	l.clock.Set(startMs + 3600_000)
	l.settle()
	if n := l.count("T"); n != 600 {
		t.Errorf("%d were delivered, want 600", n)
	}
	l.close()
}
