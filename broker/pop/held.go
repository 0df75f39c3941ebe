package pop

import (
	"maps"
	"slices"
)

// pageSize is how many offsets in a row share a page.
const (
	pageBits = 7
	pageSize = 1 << pageBits
)

// entry is a message that is in flight.
type entry struct {
	popTime int64  // ms of message time, what its handle names; 0: the offset is not in flight
	due     int64  // ms of message time, when it is visible again
	file    uint32 // of the journal, that tells of it
	state   state
}

// state is what else there is to know of a message in flight.
type state uint32

const (
	// reviving: its copy is being stored.
	reviving state = 1 << iota
	// copied: its copy is stored, and the journal does not say so yet.
	copied
	// suspended: its next delivery does not count as another one.
	suspended

	// leaving: handles have no effect.
	leaving = reviving | copied
)

type page struct {
	entries [pageSize]entry
	n       int // of them in flight
}

// held are the messages of a queue that are in flight, by offset. The caller's lock guards it.
type held struct {
	pages map[int64]*page // by offset / pageSize
	n     int64
	spare *page // an empty one
}

func (h *held) find(offset int64) *entry {
	p := h.pages[offset>>pageBits]
	if p == nil {
		return nil
	}
	if e := &p.entries[offset&(pageSize-1)]; e.popTime != 0 {
		return e
	}
	return nil
}

// set makes an offset one in flight, and returns what it was before.
func (h *held) set(offset int64, e entry) (was entry) {
	p := h.pages[offset>>pageBits]
	if p == nil {
		if p, h.spare = h.spare, nil; p == nil {
			p = new(page)
		}
		if h.pages == nil {
			h.pages = make(map[int64]*page)
		}
		h.pages[offset>>pageBits] = p
	}
	at := &p.entries[offset&(pageSize-1)]
	if was = *at; was.popTime == 0 {
		p.n++
		h.n++
	}
	*at = e
	return was
}

// drop ends the flight of an offset, which find has found.
func (h *held) drop(offset int64) {
	p := h.pages[offset>>pageBits]
	p.entries[offset&(pageSize-1)] = entry{}
	h.n--
	if p.n--; p.n == 0 {
		delete(h.pages, offset>>pageBits)
		h.spare = p
	}
}

// each visits what is in flight in [from, to), in order, until visit returns false.
func (h *held) each(from, to int64, visit func(offset int64, e *entry) bool) {
	if pages := (to-1)>>pageBits - from>>pageBits + 1; pages > int64(len(h.pages)) {
		for _, number := range slices.Sorted(maps.Keys(h.pages)) {
			if !h.eachOf(number, from, to, visit) {
				return
			}
		}
		return
	}
	for number := from >> pageBits; number <= (to-1)>>pageBits; number++ {
		if !h.eachOf(number, from, to, visit) {
			return
		}
	}
}

func (h *held) eachOf(number, from, to int64, visit func(offset int64, e *entry) bool) bool {
	p := h.pages[number]
	if p == nil {
		return true
	}
	first := number << pageBits
	for offset := max(from, first); offset < min(to, first+pageSize); offset++ {
		if e := &p.entries[offset-first]; e.popTime != 0 && !visit(offset, e) {
			return false
		}
	}
	return true
}
