package pop

import (
	"encoding/binary"
	"errors"
)

// Kinds of the journal's records. Each begins with the number of its window; numbers are varints.
// What a record says replaces what was said before.
const (
	// recordWindow declares a window: group, topic, queue.
	recordWindow = 1 + iota
	// recordPopped is a pop: where its cursor was, where it is, instant, invisible ms, offsets.
	recordPopped
	// recordHeld are messages in flight since one pop, to one instant: instant, invisible ms, state,
	// offsets.
	recordHeld
	// recordGone are offsets that are not in flight any more.
	recordGone
	// recordRevived is an offset whose copy is stored: offset, instant of its pop, log offset of the copy.
	recordRevived
	// recordCursor is a cursor that was set, with nothing handed out in order.
	recordCursor
	// recordBlock is what is handed out in order: cursor, instant, attemptId, and of each message offset,
	// when it is visible, how often it was handed out, whether it is acknowledged.
	recordBlock
	// recordDropped ends a window.
	recordDropped
)

// writer makes a record. It is used again and again.
type writer struct{ b []byte }

func (w *writer) begin(window uint32) *writer {
	w.b = binary.AppendUvarint(w.b[:0], uint64(window))
	return w
}

func (w *writer) int(n int64) *writer {
	w.b = binary.AppendVarint(w.b, n)
	return w
}

func (w *writer) text(s string) *writer {
	w.b = append(binary.AppendVarint(w.b, int64(len(s))), s...)
	return w
}

// offsets writes ascending offsets, the first one less base.
func (w *writer) offsets(base int64, offsets []int64) *writer {
	w.int(int64(len(offsets)))
	for _, offset := range offsets {
		w.int(offset - base)
		base = offset
	}
	return w
}

// reader reads a record.
type reader struct {
	b   []byte
	err error
}

var errRecord = errors.New("pop: a record of the journal is not one")

func (r *reader) window() uint32 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 || n > 1<<32-1 {
		r.err = errRecord
		return 0
	}
	r.b = r.b[size:]
	return uint32(n)
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.b, r.err = nil, errRecord
		return 0
	}
	r.b = r.b[size:]
	return n
}

// count is a number of things that follow, of which each takes a byte at least.
func (r *reader) count() int {
	n := r.int()
	if n < 0 || n > int64(len(r.b)) {
		r.b, r.err = nil, errRecord
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.count()
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *reader) offsets(base int64, visit func(offset int64)) {
	for range r.count() {
		base += r.int()
		if r.err == nil {
			visit(base)
		}
	}
}
