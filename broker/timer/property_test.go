package timer_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

// pendingOne is a message of the model.
type pendingOne struct {
	body      string
	due       int64
	offset    int64 // in the log
	topic     string
	key       string
	wall      bool // the wall decides
	cancelled bool
	before    []pendingOne // as it was before it was given other instants
}

// model is a sorted list of what a lab has to deliver.
type model struct {
	*lab
	all     []*pendingOne
	sent    int
	refused bool
	upset   bool  // the order is not that of due instants any more
	horizon int64 // how far ahead messages are due, ms
}

// TestService_AnySequence_DeliversOnceInTime sends, cancels, lets time pass, restarts, kills and
// cuts the power. What is delivered is what a sorted list says, in its order, each once; after a
// kill too. A power cut takes what was not durable, and nothing comes twice after it either.
func TestService_AnySequence_DeliversOnceInTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := newLabIn(rt)
		l.sync = rapid.Bool().Draw(rt, "sync")
		l.inOrder = rapid.Bool().Draw(rt, "inOrder")
		l.virtual = rapid.Bool().Draw(rt, "virtual")
		l.saveMs = rapid.SampledFrom([]int64{1, 1_000_000}).Draw(rt, "saveMs")
		m := &model{lab: l, horizon: rapid.SampledFrom(horizons).Draw(rt, "horizon")}
		l.open()
		defer func() { l.close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"send": m.send1, "send many": m.sendMany, "cancel": m.cancel, "pass": m.pass, "step": m.step, "refuse": m.turnRefusal,
			"reschedule": m.reschedule, "save": m.save, "restart": m.restart, "kill": m.kill, "cut the power": m.cutPower, "list": m.list,
		})
		m.accept()
		m.list(rt)
		m.upTo(l.clock.NowMillis() + m.horizon + 20_000)
		m.compare(rt)
	})
}

// horizons are how far ahead messages are due, ms.
var horizons = []int64{2500, 60_000, 6_000_000, 100 * 86_400_000}

func (m *model) send1(rt *rapid.T) {
	m.sent++
	p := &pendingOne{
		body: fmt.Sprint(m.sent), topic: fmt.Sprintf("T%d", rapid.IntRange(0, 1).Draw(rt, "topic")),
		due: m.clock.NowMillis() + rapid.Int64Range(1, m.horizon).Draw(rt, "ms"), key: fmt.Sprintf("K%d", m.sent),
	}
	if rapid.Bool().Draw(rt, "round") {
		p.due += 1000 - p.due%1000
	}
	when := at(p.due)
	p.wall = !m.virtual
	if rapid.Bool().Draw(rt, "relative") {
		when, p.wall = delay(p.due-m.clock.NowMillis()), false
	}
	rec := m.lab.send(p.topic, p.body, when, key(p.key))
	p.offset = rec.CommitLogOffset
	m.all = append(m.all, p)
}

func (m *model) sendMany(rt *rapid.T) {
	for range rapid.IntRange(1, 30).Draw(rt, "messages") {
		m.send1(rt)
	}
}

// cancel removes a message that is due a second or more from now, or whatever its second has left.
func (m *model) cancel(rt *rapid.T) {
	if len(m.all) == 0 {
		return
	}
	p := m.all[rapid.IntRange(0, len(m.all)-1).Draw(rt, "which")]
	out := message.TimerOut(p.due, 1000)
	when := max(out+1, m.clock.NowMillis()+1)
	if p.cancelled || when > p.due {
		return
	}
	m.lab.send(p.topic, "0", at(when), cancels(p.key))
	p.cancelled = true
}

// reschedule gives a message another instant, unless it is gone.
func (m *model) reschedule(rt *rapid.T) {
	if len(m.all) == 0 || m.refused {
		return
	}
	m.settle()
	p := m.all[rapid.IntRange(0, len(m.all)-1).Draw(rt, "which")]
	due := m.clock.NowMillis() + rapid.Int64Range(1, m.horizon).Draw(rt, "ms")
	id := timer.ID{Wall: p.wall, Second: (p.due - 1) / 1000, CommitLogOffset: p.offset}
	to, err := m.service.Reschedule(context.Background(), id, due)
	if p.cancelled || p.due <= m.clock.NowMillis() {
		if !errors.Is(err, timer.ErrNotPending) && !errors.Is(err, timer.ErrTooLate) {
			rt.Fatalf("reschedule of %+v, which is gone: %v", p, err)
		}
		return
	}
	if err != nil {
		rt.Fatalf("reschedule of %+v: %v", p, err)
	}
	p.before = append(p.before, *p)
	p.due, p.wall, p.offset = due, to.Wall, to.CommitLogOffset
	m.settle()
}

// pass lets time pass. Where a target refuses, each try of ten seconds is an instant: not for days.
func (m *model) pass(rt *rapid.T) {
	ms := rapid.Int64Range(1, m.horizon/2+1).Draw(rt, "ms")
	if m.refused {
		ms = min(ms, 600_000)
	}
	m.upTo(m.clock.NowMillis() + ms)
}

// upTo goes from due instant to due instant where the service answers with those.
func (m *model) upTo(to int64) {
	next := m.settle()
	for ; m.inOrder && next <= to; next = m.settle() {
		m.clock.Set(next)
	}
	m.clock.Set(to)
	m.settle()
}

// step goes to the next due instant, which is exact.
func (m *model) step(rt *rapid.T) {
	next := m.settle()
	if !m.inOrder || m.refused {
		return
	}
	want := int64(math.MaxInt64)
	for _, p := range m.all {
		if !p.cancelled && p.due > m.clock.NowMillis() {
			want = min(want, p.due)
		}
	}
	if next != want {
		rt.Fatalf("the next is due at +%d, want +%d", next-startMs, want-startMs)
	}
	if next < math.MaxInt64 {
		m.clock.Set(next)
		m.settle()
	}
}

func (m *model) turnRefusal(rt *rapid.T) {
	if m.refused {
		m.accept()
		return
	}
	topicName := "T1"
	m.lab.refuse.Store(&topicName)
	m.refused, m.upset = true, true
}

// accept ends a refusal and the wait that it led to.
func (m *model) accept() {
	if !m.refused {
		return
	}
	m.lab.refuse.Store(nil)
	m.refused = false
	m.upTo(m.clock.NowMillis() + 10_000)
}

func (m *model) save(rt *rapid.T) {
	m.settle()
	if err := m.service.Save(); err != nil {
		rt.Fatal(err)
	}
}

func (m *model) restart(*rapid.T) {
	m.close()
	m.open()
}

// kill leaves what the kernel had, whatever of it was synced.
func (m *model) kill(*rapid.T) {
	if raced {
		return // the saver writes meanwhile
	}
	m.settle()
	m.leave(m.disk.PowerCut(rand.New(all{})))
}

// all are random numbers that spare everything at a power cut: a kill.
type all struct{}

// Uint64 is a number of which rand makes choices that keep every page.
func (all) Uint64() uint64 { return 1<<64 - 1 }

// leave goes on with another disk.
func (m *model) leave(disk *region.Memory) {
	m.close()
	m.disk = disk
	m.open()
}

// cut is what a power cut leaves. Under the race detector nothing unsynced is looked at.
func (m *model) cut(rt *rapid.T) *region.Memory {
	if raced {
		return m.disk.Crash()
	}
	return m.disk.PowerCut(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)))
}

// cutPower leaves of the log what was synced and some of the rest. Under SYNC_FLUSH that is every
// message; what is lost otherwise is lost with all that lies behind it.
func (m *model) cutPower(rt *rapid.T) {
	if m.refused {
		return
	}
	m.upset = true
	m.settle()
	m.leave(m.cut(rt))
	left := map[int64]string{}
	cancelled := map[string]bool{}
	if err := m.store.Scan(0, func(v *message.View) error {
		if string(v.Topic) != message.TopicTimer {
			return nil
		}
		if k, ok := message.PropertyGet(v.Properties, message.PropertyTimerDelUniqKey); ok {
			cancelled[string(k)] = true
			return nil
		}
		left[v.CommitLogOffset] = string(v.Body)
		return nil
	}); err != nil {
		rt.Fatal(err)
	}
	m.all = slices.DeleteFunc(m.all, func(p *pendingOne) bool {
		for left[p.offset] != p.body {
			if m.sync || len(p.before) == 0 {
				if m.sync {
					rt.Fatalf("%+v was durable and is lost", p)
				}
				return true
			}
			*p = p.before[len(p.before)-1] // that it was given another instant is lost
		}
		return false
	})
	for _, p := range m.all {
		// A cancel that was lost cancels nothing.
		p.cancelled = cancelled[p.key]
	}
	m.settle()
}

// list compares what pends.
func (m *model) list(rt *rapid.T) {
	if m.refused {
		return
	}
	m.settle()
	var want []*pendingOne
	for _, p := range m.all {
		if !p.cancelled && p.due > m.clock.NowMillis() {
			want = append(want, p)
		}
	}
	m.inDueOrder(want)
	i := 0
	for p := range m.service.List(0).PagesOf(rapid.SampledFrom([]int{1, 3, 1000}).Draw(rt, "page")).All() {
		rec, err := m.service.Read(p)
		if err != nil {
			rt.Fatal(err)
		}
		if i >= len(want) || string(rec.Body) != want[i].body || p.Due != want[i].due || rec.Topic != want[i].topic {
			rt.Fatalf("pending message %d is %q due +%d, want %+v", i, rec.Body, p.Due-startMs, append(want, nil)[i])
		}
		i++
	}
	if i != len(want) {
		rt.Fatalf("%d messages pend, want %d", i, len(want))
	}
}

// rank is the order of lines that are due at the same instant.
func rank(p *pendingOne) int {
	if p.wall {
		return 1
	}
	return 0
}

func (m *model) inDueOrder(list []*pendingOne) {
	slices.SortFunc(list, func(a, b *pendingOne) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.offset, b.offset))
	})
}

// compare holds what was delivered to the list: all of it, each once, none early, in order where
// nothing but time decided it.
func (m *model) compare(rt *rapid.T) {
	for _, topicName := range []string{"T0", "T1"} {
		var want []*pendingOne
		for _, p := range m.all {
			if !p.cancelled && p.topic == topicName {
				want = append(want, p)
			}
		}
		m.inDueOrder(want)
		got := m.lab.read(topicName)
		if len(got) != len(want) {
			rt.Errorf("%s has %d messages, want %d", topicName, len(got), len(want))
		}
		left := map[string]*pendingOne{}
		for i, p := range want {
			left[p.body] = p
			if m.inOrder && !m.upset && i < len(got) && got[i].body != p.body {
				rt.Errorf("message %d of %s is %s, want %s", i, topicName, got[i].body, p.body)
			}
		}
		for _, d := range got {
			p := left[d.body]
			if p == nil {
				rt.Errorf("message %s comes to %s twice or should not", d.body, topicName)
				continue
			}
			delete(left, d.body)
			if d.stored < p.due {
				rt.Errorf("message %s was due at +%d and is stored at +%d", d.body, p.due-startMs, d.stored-startMs)
			}
		}
		for body, p := range left {
			rt.Errorf("message %s of %s, due at +%d, is lost", body, topicName, p.due-startMs)
		}
	}
}
