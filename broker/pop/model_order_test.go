package pop_test

import (
	"fmt"
	"strconv"

	"pgregory.net/rapid"
)

func (m *model) sendOrdered(rt *rapid.T) {
	for range rapid.IntRange(1, 5).Draw(rt, "messages") {
		m.sent++
		body := strconv.Itoa(m.sent)
		m.send("O", 0, body)
		m.ordered.bodies = append(m.ordered.bodies, body)
	}
}

func (m *model) popOrdered(rt *rapid.T) {
	m.tick()
	o := &m.ordered
	n, ms := rapid.IntRange(1, 4).Draw(rt, "n"), invisible(rt)
	attempt := rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "attempt")
	same := attempt != "" && attempt == o.attempt && len(o.block) > 0
	blocked := false
	for _, b := range o.block {
		blocked = blocked || !b.acked && b.due > m.clock.NowMillis()
	}
	got := m.popAs(inOrder, n, ms, true, attempt)
	want := o.bodies[o.next:min(o.next+n, len(o.bodies))]
	if blocked && !same {
		want = nil
	}
	if bodies(got) != fmt.Sprint(bodiesOf(want)) {
		rt.Fatalf("popped in order %q, want %q", bodies(got), want)
	}
	if len(got) == 0 {
		return
	}
	was := o.block
	o.block, o.attempt, o.popTime = nil, attempt, got[0].popTime
	for _, h := range got {
		b := orderedMessage{offset: h.offset, due: h.popTime + ms}
		for _, w := range was {
			if w.offset == h.offset {
				if b.count = w.count + 1; same {
					b.count = w.count
				}
			}
		}
		if h.times != b.count {
			rt.Fatalf("offset %d was popped %d times before, want %d", h.offset, h.times, b.count)
		}
		o.block = append(o.block, b)
	}
	m.settled()
}

func bodiesOf(list []string) string {
	var handles []handle
	for _, b := range list {
		handles = append(handles, handle{body: b})
	}
	return bodies(handles)
}

func (m *model) anyOrdered(rt *rapid.T) (b *orderedMessage, h handle, valid bool) {
	o := &m.ordered
	if len(o.bodies) == 0 {
		return nil, h, false
	}
	h = handle{key: inOrder, popTime: o.popTime - rapid.SampledFrom([]int64{0, 0, 0, 1}).Draw(rt, "stale")}
	h.offset = rapid.Int64Range(max(0, int64(o.next)-1), min(int64(o.next+4), int64(len(o.bodies)))).Draw(rt, "offset")
	for i := range o.block {
		if o.block[i].offset == h.offset && h.popTime == o.popTime && !o.block[i].acked {
			return &o.block[i], h, true
		}
	}
	return nil, h, false
}

func (m *model) ackOrdered(rt *rapid.T) {
	b, h, valid := m.anyOrdered(rt)
	if h.popTime == 0 {
		return
	}
	if got := m.ack(h); got != valid {
		rt.Fatalf("the acknowledgement of %+v in order has effect: %v, want %v", h, got, valid)
	}
	if !valid {
		return
	}
	b.acked = true
	o := &m.ordered
	for i := range o.block {
		if !o.block[i].acked {
			o.next = int(o.block[i].offset)
			return
		}
	}
	o.next = int(o.block[len(o.block)-1].offset) + 1
	o.block = nil
}

func (m *model) changeOrdered(rt *rapid.T) {
	b, h, valid := m.anyOrdered(rt)
	if h.popTime == 0 {
		return
	}
	ms := invisible(rt)
	if _, ok := m.change(h, ms); ok != valid {
		rt.Fatalf("the change of %+v in order has effect: %v, want %v", h, ok, valid)
	}
	if valid {
		b.due = m.clock.NowMillis() + ms
	}
}
