package pop_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/wheelmq/wheelmq/broker/pop"
)

// flying is a message in flight, in the model.
type flying struct {
	body    string
	times   int32
	due     int64
	popTime int64
}

// model is what a service must do: two queues that are popped, one of them in order, and the retry
// topic and the dead letters of the first.
type model struct {
	*lab
	sent    int
	bodies  []string           // of the queue
	cursor  int                // of the queue
	flights map[int64]flying   // of the queue, by offset
	retries map[int64]flying   // of the retry topic, by offset
	waiting map[string][]int32 // in the retry topic: how often each was consumed
	dead    map[string]int     // how often each is in the dead letters
	handles []handle           // that were given out, valid or not
	ordered struct {           // the queue that is popped in order
		bodies  []string
		next    int
		attempt string
		popTime int64
		block   []orderedMessage
	}
}

type orderedMessage struct {
	offset int64
	due    int64
	count  int32
	acked  bool
}

var inOrder = pop.Key{Group: "G", Topic: "O"}

// TestService_AnySequence_MatchesTheModel pops, acknowledges, changes and resets while the clock is
// turned and the server restarts, is killed, at any point of a revival too, or loses its power. What
// was acknowledged never comes again, what was not comes again at its instant and not before.
func TestService_AnySequence_MatchesTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := newLab(rt)
		l.sync = rapid.Bool().Draw(rt, "sync")
		l.journalFile = rapid.SampledFrom([]int{384, 1024, 64 << 10}).Draw(rt, "journal file")
		l.open()
		defer func() { l.close() }()
		m := &model{lab: l, flights: map[int64]flying{}, retries: map[int64]flying{}, waiting: map[string][]int32{}, dead: map[string]int{}}
		rt.Repeat(map[string]func(*rapid.T){
			"send": m.sendSome, "pop": m.popSome, "pop the retry topic": m.popRetries, "acknowledge": m.ackOne, "acknowledge many": m.ackMany,
			"change": m.changeOne, "wait": m.wait, "reset": m.reset, "restart": m.restart, "kill": m.kill, "kill amid a revival": m.killAmid,
			"cut the power": m.cutPower, "send in order": m.sendOrdered, "pop in order": m.popOrdered, "acknowledge in order": m.ackOrdered,
			"change in order": m.changeOrdered, "": m.compare,
		})
		m.drain(rt)
	})
}

func (m *model) tick() { m.pass(1) }

// pass turns the clock, with what comes due.
func (m *model) pass(ms int64) {
	m.turn(ms)
	m.expire()
}

// expire is what comes due until now.
func (m *model) expire() {
	now := m.clock.NowMillis()
	for _, in := range []map[int64]flying{m.flights, m.retries} {
		for offset, f := range in {
			if f.due > now {
				continue
			}
			delete(in, offset)
			if f.times >= 16 {
				m.dead[f.body]++
			} else {
				m.waiting[f.body] = append(m.waiting[f.body], f.times+1)
			}
		}
	}
}

func (m *model) sendSome(rt *rapid.T) {
	for range rapid.IntRange(1, 5).Draw(rt, "messages") {
		m.sent++
		body := strconv.Itoa(m.sent)
		m.send("T", 0, body)
		m.bodies = append(m.bodies, body)
	}
}

func invisible(rt *rapid.T) int64 {
	return rapid.SampledFrom([]int64{0, 1, 10, 100, 1000, 5000, 60_000}).Draw(rt, "invisible")
}

func (m *model) popSome(rt *rapid.T) {
	m.tick()
	n, ms := rapid.IntRange(1, 8).Draw(rt, "n"), invisible(rt)
	got := m.pop(window, n, ms)
	want := m.bodies[m.cursor:min(m.cursor+n, len(m.bodies))]
	if len(got) != len(want) {
		rt.Fatalf("popped %q, want %q", bodies(got), want)
	}
	for i, h := range got {
		if h.body != want[i] || h.times != 0 {
			rt.Fatalf("popped %q, want %q", bodies(got), want)
		}
		m.flights[h.offset] = flying{h.body, 0, h.popTime + ms, h.popTime}
	}
	m.cursor += len(got)
	m.handles = append(m.handles, got...)
	m.settled()
}

// settled waits for what is due at once.
func (m *model) settled() {
	m.settle()
	m.expire()
}

func (m *model) popRetries(rt *rapid.T) {
	m.tick()
	n, ms := rapid.IntRange(1, 8).Draw(rt, "n"), invisible(rt)
	m.takeRetries(rt, n, ms)
}

func (m *model) takeRetries(rt *rapid.T, n int, ms int64) []handle {
	there := 0
	for _, times := range m.waiting {
		there += len(times)
	}
	got := m.pop(retry, n, ms)
	if len(got) != min(n, there) {
		rt.Fatalf("%d messages of the retry topic, want %d of %d (%v)", len(got), n, there, m.waiting)
	}
	for _, h := range got {
		at := slices.Index(m.waiting[h.body], h.times)
		if at < 0 {
			rt.Fatalf("%s came after %d times; waiting: %v", h.body, h.times, m.waiting)
		}
		m.waiting[h.body] = slices.Delete(m.waiting[h.body], at, at+1)
		m.retries[h.offset] = flying{h.body, h.times, h.popTime + ms, h.popTime}
	}
	m.handles = append(m.handles, got...)
	m.settled()
	return got
}

// of is the map of the flights of a handle's window.
func (m *model) of(h handle) map[int64]flying {
	if h.key == window {
		return m.flights
	}
	return m.retries
}

func (m *model) valid(h handle) bool {
	f, ok := m.of(h)[h.offset]
	return ok && f.popTime == h.popTime
}

// draw is any handle that was ever given out, rather a late one.
func (m *model) draw(rt *rapid.T) (h handle, ok bool) {
	if len(m.handles) == 0 {
		return h, false
	}
	back := rapid.IntRange(1, min(len(m.handles), 20)).Draw(rt, "handle")
	return m.handles[len(m.handles)-back], true
}

func (m *model) ackOne(rt *rapid.T) {
	h, ok := m.draw(rt)
	if !ok {
		return
	}
	if want, got := m.valid(h), m.ack(h); got != want {
		rt.Fatalf("the acknowledgement of %+v has effect: %v, want %v", h, got, want)
	}
	if m.valid(h) {
		delete(m.of(h), h.offset)
	}
}

func (m *model) ackMany(rt *rapid.T) {
	h, ok := m.draw(rt)
	if !ok {
		return
	}
	var offsets []int64
	want := 0
	for _, other := range m.handles {
		if other.key == h.key && other.popTime == h.popTime {
			offsets = append(offsets, other.offset)
			if m.valid(other) {
				want++
				delete(m.of(other), other.offset)
			}
		}
	}
	m.answered(func(done func(error)) (bool, error) {
		got, pending, err := m.service.AckBatch(h.key, h.popTime, offsets, done)
		if got != want {
			rt.Fatalf("%d acknowledged, want %d", got, want)
		}
		return pending, err
	})
}

func (m *model) changeOne(rt *rapid.T) {
	m.tick()
	h, ok := m.draw(rt)
	if !ok {
		return
	}
	ms := invisible(rt)
	changed, ok := m.change(h, ms)
	if ok != m.valid(h) {
		rt.Fatalf("the change of %+v has effect: %v", h, ok)
	}
	if ok {
		f := m.of(h)[h.offset]
		f.popTime, f.due = changed.popTime, m.clock.NowMillis()+ms
		m.of(h)[h.offset] = f
		m.handles = append(m.handles, changed)
	}
	m.settled()
}

func (m *model) wait(rt *rapid.T) {
	m.pass(rapid.SampledFrom([]int64{1, 10, 99, 1000, 5000, 60_000}).Draw(rt, "ms"))
}

func (m *model) reset(rt *rapid.T) {
	m.tick()
	to := rapid.IntRange(0, len(m.bodies)).Draw(rt, "to")
	m.offsets.Reset("G", "T", 0, int64(to))
	m.cursor = to
	m.must(m.offsets.Save())
}

// compare compares what can be seen.
func (m *model) compare(rt *rapid.T) {
	if got, want := m.service.InFlight("G", "T"), int64(len(m.flights)); got != want {
		rt.Fatalf("%d in flight, want %d", got, want)
	}
	if got, want := m.service.InFlight("G", retry.Topic), int64(len(m.retries)); got != want {
		rt.Fatalf("%d in flight of the retry topic, want %d", got, want)
	}
	next := m.settle()
	first := int64(1<<63 - 1)
	for _, in := range []map[int64]flying{m.flights, m.retries} {
		for _, f := range in {
			first = min(first, f.due)
		}
	}
	for _, b := range m.ordered.block {
		_ = b
		first = min(first, next) // what is due in order may be told late
	}
	if next > first {
		rt.Fatalf("the next is due at %d, want %d", next-startMs, first-startMs)
	}
}

// drain ends everything: each message is there once more, and then no more.
func (m *model) drain(rt *rapid.T) {
	m.pass(61_000)
	for {
		handles := m.takeRetries(rt, 32, 60_000)
		if len(handles) == 0 {
			break
		}
		for _, h := range handles {
			if !m.ack(h) {
				rt.Fatalf("the acknowledgement of %+v has no effect", h)
			}
			delete(m.retries, h.offset)
		}
	}
	m.compare(rt)
	got := map[string]int{}
	for _, h := range m.pop(dead, 1000, 60_000) {
		got[h.body]++
	}
	if fmt.Sprint(got) != fmt.Sprint(m.dead) {
		rt.Fatalf("dead: %v, want %v", got, m.dead)
	}
}
