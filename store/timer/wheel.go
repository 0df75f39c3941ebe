package timer

import (
	"math/bits"
	"slices"
	"sort"
)

// none is where a slot's chain ends, and the position of what is not there.
const none = int64(-1)

// slot is what the wheel knows of one second. Its entries are those of the blocks from base
// back, and then those of the open block. head is base, or the newest of the blocks written of
// an open block that is not full: those are read when the open block is not in memory any more.
type slot struct {
	base, head int64 // positions in the TimerLog
	tail       int64 // of the oldest block
	oldest     int64 // lowest log offset of an entry
	count      int32 // of entries; 0: the slot is not used
	open       int32 // its open block, noBlock
}

// clear makes the slot an empty one.
func (s *slot) clear() {
	*s = slot{base: none, head: none, tail: none, oldest: none, open: noBlock}
}

// wheelHour holds the slots of an hour.
type wheelHour struct {
	number int64 // since 1970
	slots  [secondsPerHour]slot
	used   [(secondsPerHour + 63) / 64]uint64 // which slots have entries
	live   int                                // how many
	oldest int64                              // lowest log offset of an entry, or below
	stale  bool                               // oldest may be too low
}

// wheel has a slot for every second of the near window. The window is short, but the time of the
// Timeline may be set back, so only the hours that have entries take memory.
type wheel struct {
	hours   []*wheelHour // in order
	entries int64
	spare   *wheelHour // an empty one
}

func hourOf(second int64) int64 { return second / secondsPerHour }

// hour is the hour with a number, nil when it has no entries.
func (w *wheel) hour(number int64) *wheelHour {
	for _, h := range w.hours {
		if h.number >= number {
			if h.number == number {
				return h
			}
			break
		}
	}
	return nil
}

// slot is that of a second, nil when it has no entries.
func (w *wheel) slot(second int64) *slot {
	h := w.hour(hourOf(second))
	if h == nil || h.slots[second%secondsPerHour].count == 0 {
		return nil
	}
	return &h.slots[second%secondsPerHour]
}

// make is the hour of a second, a new one when there is none.
func (w *wheel) make(second int64) *wheelHour {
	number := hourOf(second)
	if h := w.hour(number); h != nil {
		return h
	}
	h := w.spare
	if w.spare = nil; h == nil {
		h = &wheelHour{}
		for i := range h.slots {
			h.slots[i].clear()
		}
	}
	h.number, h.oldest, h.stale = number, none, false
	at := sort.Search(len(w.hours), func(i int) bool { return w.hours[i].number > number })
	w.hours = slices.Insert(w.hours, at, h)
	return h
}

// added counts an entry in.
func (w *wheel) added(h *wheelHour, second, logOffset int64) {
	i := second % secondsPerHour
	s := &h.slots[i]
	if s.count == 0 {
		h.used[i/64] |= 1 << (i % 64)
		h.live++
	}
	s.count++
	w.entries++
	if s.oldest == none || logOffset < s.oldest {
		s.oldest = logOffset
	}
	if h.oldest == none || logOffset < h.oldest {
		h.oldest = logOffset
	}
}

// remove empties the slot of a second.
func (w *wheel) remove(second int64) {
	h := w.hour(hourOf(second))
	if h == nil {
		return
	}
	i := second % secondsPerHour
	s := &h.slots[i]
	if s.count == 0 {
		return
	}
	w.entries -= int64(s.count)
	h.stale = h.stale || s.oldest == h.oldest
	s.clear()
	h.used[i/64] &^= 1 << (i % 64)
	if h.live--; h.live == 0 {
		w.hours = slices.DeleteFunc(w.hours, func(o *wheelHour) bool { return o == h })
		w.spare = h
	}
}

// next is the first second >= from that has entries.
func (w *wheel) next(from int64) (second int64, ok bool) {
	for _, h := range w.hours {
		begin := h.number * secondsPerHour
		if i := h.next(max(from-begin, 0)); i >= 0 {
			return begin + i, true
		}
	}
	return 0, false
}

// next is the first used slot >= i, -1 when there is none.
func (h *wheelHour) next(i int64) int64 {
	if i >= secondsPerHour {
		return -1
	}
	word := h.used[i/64] >> (i % 64) << (i % 64)
	for at := i / 64; ; word = h.used[at] {
		if word != 0 {
			return at*64 + int64(bits.TrailingZeros64(word))
		}
		if at++; at == int64(len(h.used)) {
			return -1
		}
	}
}

// live is how many seconds have entries.
func (w *wheel) live() (n int) {
	for _, h := range w.hours {
		n += h.live
	}
	return n
}

// all calls fn for every slot that has entries, in order.
func (w *wheel) all(fn func(second int64, s *slot)) {
	for _, h := range w.hours {
		for i := h.next(0); i >= 0; i = h.next(i + 1) {
			fn(h.number*secondsPerHour+i, &h.slots[i])
		}
	}
}

// oldest is the lowest log offset of all entries.
func (w *wheel) oldest() (logOffset int64, ok bool) {
	for _, h := range w.hours {
		if h.live == 0 {
			continue
		}
		if h.stale {
			h.refresh()
		}
		if !ok || h.oldest < logOffset {
			logOffset, ok = h.oldest, true
		}
	}
	return logOffset, ok
}

func (h *wheelHour) refresh() {
	h.oldest, h.stale = none, false
	for i := h.next(0); i >= 0; i = h.next(i + 1) {
		if o := h.slots[i].oldest; h.oldest == none || o < h.oldest {
			h.oldest = o
		}
	}
}
