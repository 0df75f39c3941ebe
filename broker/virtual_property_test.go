package broker_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wheelmq/wheelmq/broker/virtualtime"
	"github.com/wheelmq/wheelmq/message"
)

// levelMs are the delays of the levels, ms.
var levelMs = []int64{
	1e3, 5e3, 10e3, 30e3, 60e3, 120e3, 180e3, 240e3, 300e3, 360e3, 420e3, 480e3, 540e3, 600e3, 1200e3, 1800e3, 3600e3, 7200e3,
}

// waiting is a message that waits for its time.
type waiting struct {
	key   string // body/reconsumeTimes, once in a run
	due   int64  // ms
	level int
	seq   int // of its arrival
}

// delivery is a message that came due.
type delivery struct {
	key string
	at  int64 // ms
}

// model is what a broker on a virtual clock must do: a list that is sorted by due instant, then
// level, then arrival.
type model struct {
	*lab
	now       int64
	pending   []waiting
	delivered []delivery
	dues      map[string]int64 // of everything that ever waited
	failable  []int64          // log offsets of messages that a consumer may fail at
	sent, seq int
}

// TestVirtualTime_AnySchedule sends with levels, fails at messages, restarts, cuts the power and
// turns the clock, at random. What is delivered, in which order and at which instant, is what a
// sorted list says.
func TestVirtualTime_AnySchedule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{lab: newLab(rt), now: startMs, dues: make(map[string]int64)}
		m.config.MappedFileSizeCommitLog, m.config.MaxMessageSize = 1<<20, 1<<16
		if rapid.Bool().Draw(rt, "sync") {
			m.config.FlushDiskType = "SYNC_FLUSH"
		}
		m.open(m.now)
		defer func() { m.close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"": m.check, "send": m.sendOne, "send many": m.sendMany, "fail": m.fail, "advance": m.advance, "advance to the next": m.toNext,
			"flush": m.flush, "restart": m.restart, "cut the power": m.cutPower,
		})
	})
}

func (m *model) wait(key string, level int) {
	m.seq++
	w := waiting{key: key, due: m.now + levelMs[level-1], level: level, seq: m.seq}
	m.pending = append(m.pending, w)
	m.dues[key] = w.due
}

// due takes out of the model what is due at an instant, in order.
func (m *model) due(at int64) {
	slices.SortFunc(m.pending, func(a, b waiting) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.level, b.level), cmp.Compare(a.seq, b.seq))
	})
	for len(m.pending) > 0 && m.pending[0].due <= at {
		m.delivered = append(m.delivered, delivery{m.pending[0].key, max(m.now, m.pending[0].due)})
		m.pending = m.pending[1:]
	}
	m.now = max(m.now, at)
}

func (m *model) sendOne(rt *rapid.T) {
	m.sent++
	body := "m" + strconv.Itoa(m.sent)
	level := rapid.SampledFrom([]int{0, 1, 1, 2, 2, 3, 4, 5, 17, 18}).Draw(rt, "level")
	m.send(rapid.SampledFrom([]string{"A", "B"}).Draw(rt, "topic"), int32(rapid.IntRange(0, 1).Draw(rt, "queue")), body, level)
	if level > 0 {
		m.wait(body+"/0", level)
	}
	m.look()
}

func (m *model) sendMany(rt *rapid.T) {
	for range rapid.IntRange(2, 12).Draw(rt, "messages") {
		m.sendOne(rt)
	}
}

// fail gives a message back that was not given back before.
func (m *model) fail(rt *rapid.T) {
	if len(m.failable) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.failable)-1).Draw(rt, "message")
	at := m.failable[i]
	m.failable = slices.Delete(m.failable, i, i+1)
	var body string
	var times int
	m.each(func(v *message.View, _ bool) {
		if v.CommitLogOffset == at {
			body, times = string(v.Body), int(v.ReconsumeTimes)
		}
	})
	m.sendBack("G", at)
	if times < 16 {
		m.wait(body+"/"+strconv.Itoa(times+1), 3+times)
	}
}

func (m *model) advance(rt *rapid.T) {
	d := rapid.SampledFrom([]int64{0, 1, 999, 1000, 4000, 5000, 10_000, 29_999, 60_000, 3_600_000, 7_200_000}).Draw(rt, "ms")
	ctx, cancel := within()
	defer cancel()
	from, before := m.now, len(m.delivered)
	m.due(m.now + d)
	got, err := m.broker.VirtualTime().Advance(ctx, time.Duration(d)*time.Millisecond)
	if err != nil {
		rt.Fatal(err)
	}
	if got.From != from || got.Now != m.now || got.Delivered != int64(len(m.delivered)-before) {
		rt.Fatalf("advance by %d ms: %+v, want from %d to %d with %d messages", d, got, from, m.now, len(m.delivered)-before)
	}
}

func (m *model) toNext(rt *rapid.T) {
	ctx, cancel := within()
	defer cancel()
	_, err := m.broker.VirtualTime().AdvanceToNext(ctx)
	if len(m.pending) == 0 {
		if !errors.Is(err, virtualtime.ErrNothingPending) {
			rt.Fatalf("nothing is pending: %v", err)
		}
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	next := slices.MinFunc(m.pending, func(a, b waiting) int { return cmp.Compare(a.due, b.due) }).due
	m.due(next)
}

// flush makes everything durable, as the store does now and then.
func (m *model) flush(rt *rapid.T) {
	if err := m.broker.Save(); err != nil {
		rt.Fatal(err)
	}
}

func (m *model) restart(rt *rapid.T) {
	m.close()
	m.reassemble(rt)
	m.start()
}

// reassemble makes a broker with a clock that stands anywhere: the store knows where it stood.
func (m *model) reassemble(rt *rapid.T) {
	m.assemble(rapid.SampledFrom([]int64{0, startMs, 2 * startMs}).Draw(rt, "clock"))
	if now := m.broker.VirtualTime().Now(); now != m.now {
		rt.Fatalf("the clock goes on at %d, want %d", now, m.now)
	}
}

// cutPower leaves what was durable and some of the rest. Under SYNC_FLUSH that is every message.
// What is left waits for the same instants; a copy that is lost is made again, at once.
func (m *model) cutPower(rt *rapid.T) {
	m.settle()
	disk := m.disk.PowerCut(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)))
	m.close()
	m.disk = disk
	m.reassemble(rt)
	ever := len(m.dues)
	m.takeLeft(rt)
	if lost := ever - len(m.dues); m.config.FlushDiskType == "SYNC_FLUSH" && lost > 0 {
		rt.Fatalf("%d messages that were durable are lost", lost)
	}
	m.start()
	m.due(m.now)
	m.look()
}

// takeLeft makes the model what is in the log.
func (m *model) takeLeft(rt *rapid.T) {
	dues, order := m.dues, m.delivered
	m.pending, m.delivered, m.dues = nil, nil, make(map[string]int64)
	m.each(func(v *message.View, copied bool) {
		key := keyOf(v)
		switch {
		case string(v.Topic) == message.TopicSchedule:
			due, _ := message.PropertyGet(v.Properties, message.PropertyDueMs)
			if strconv.FormatInt(dues[key], 10) != string(due) {
				rt.Fatalf("%s waits until %s, want %d", key, due, dues[key])
			}
			m.seq++
			m.dues[key] = dues[key]
			m.pending = append(m.pending, waiting{key, dues[key], int(v.QueueID) + 1, m.seq})
		case copied:
			m.delivered = append(m.delivered, delivery{key, v.StoreTimestamp})
			m.pending = slices.DeleteFunc(m.pending, func(w waiting) bool { return w.key == key })
		}
	})
	if len(m.delivered) > len(order) || !slices.Equal(m.delivered, order[:len(m.delivered)]) {
		rt.Fatalf("of what was delivered is left\n%v, which is no beginning of\n%v", m.delivered, order)
	}
}

func keyOf(v *message.View) string { return fmt.Sprintf("%s/%d", v.Body, v.ReconsumeTimes) }

// each shows every record and whether a scheduler made it.
func (m *model) each(visit func(v *message.View, copied bool)) {
	m.t.Helper()
	if err := m.broker.EachRecord(func(v *message.View) error {
		_, copied := message.PropertyGet(v.Properties, message.PropertySource)
		visit(v, copied)
		return nil
	}); err != nil {
		m.t.Fatal(err)
	}
}

// look finds the messages that a consumer may fail at: those in their topics that did not come
// back yet.
func (m *model) look() {
	m.t.Helper()
	m.settle()
	back := make(map[string]bool)
	m.each(func(v *message.View, _ bool) {
		if v.ReconsumeTimes > 0 {
			back[fmt.Sprintf("%s/%d", v.Body, v.ReconsumeTimes-1)] = true
		}
	})
	m.failable = nil
	m.each(func(v *message.View, _ bool) {
		if string(v.Topic) != message.TopicSchedule && v.ReconsumeTimes < 17 && !back[keyOf(v)] {
			m.failable = append(m.failable, v.CommitLogOffset)
		}
	})
}

// check compares everything that was delivered with the model, and what waits.
func (m *model) check(rt *rapid.T) {
	m.settle()
	var got []delivery
	m.each(func(v *message.View, copied bool) {
		if copied {
			got = append(got, delivery{keyOf(v), v.StoreTimestamp})
		}
	})
	if !slices.Equal(got, m.delivered) {
		rt.Fatalf("delivered\n%v, want\n%v", got, m.delivered)
	}
	next, n := m.broker.Due()
	want := int64(1<<63 - 1)
	for _, w := range m.pending {
		want = min(want, w.due)
	}
	if next != want || n != int64(len(m.pending)) {
		rt.Fatalf("%d pend, the next at %d; want %d and %d", n, next, len(m.pending), want)
	}
}
