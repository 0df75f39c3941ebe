package timer

import "fmt"

// nearReader gives the near entries of a second, as they were when it was made.
type nearReader struct {
	near    *near
	second  int64
	blocks  []place // newest first
	held    []*chunk
	entries []byte // what is left of the current block
	open    []byte // of the open block, given last
	err     error
	missing logRange // where records of missing entries lie
}

// logRange is a part of the CommitLog, empty when from >= to.
type logRange struct{ from, to int64 }

func (n *near) read(second int64) *nearReader {
	r := &nearReader{near: n, second: second}
	s := n.wheel.slot(second)
	if s == nil {
		return r
	}
	sound := int64(0)
	if s.open != noBlock {
		r.open = append(r.open, n.open.entries(s.open)...)
		sound = int64(len(r.open) / entrySize)
	}
	for pos := s.base; pos != none && r.err == nil; {
		p, entries, prev, err := n.log.block(pos, second)
		if err != nil {
			r.err = err
			break
		}
		r.hold(p.chunk)
		r.blocks = append(r.blocks, p)
		sound += int64(len(entries) / entrySize)
		pos = prev
	}
	if sound != int64(s.count) || r.err != nil {
		r.damaged(s, sound)
	}
	return r
}

// hold keeps a file from being unmapped.
func (r *nearReader) hold(c *chunk) {
	if len(r.held) == 0 || r.held[len(r.held)-1] != c {
		c.readers++
		r.held = append(r.held, c)
	}
}

// damaged takes in that of the entries of a slot only so many were found: what came before the
// oldest of them is missing.
func (r *nearReader) damaged(s *slot, sound int64) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: the chain of blocks is broken", ErrDamaged)
	}
	r.err = fmt.Errorf("timer: second %d has %d of its %d near entries: %w", r.second, sound, s.count, r.err)
	r.missing = logRange{s.oldest, r.near.logMax}
	if n := len(r.blocks); n > 0 {
		// It was sound a moment ago.
		if entries, _, err := readBlock(r.blocks[n-1].bytes(), r.second); err == nil {
			r.missing.to = entryOf(entries, r.second).LogOffset
		}
	} else if len(r.open) > 0 {
		r.missing.to = entryOf(r.open, r.second).LogOffset
	}
	r.near.lost(r.second, int64(s.count)-sound)
}

// lost counts missing entries, those of a second once.
func (n *near) lost(second, entries int64) {
	if n.damaged == nil {
		n.damaged = make(map[int64]int64)
	}
	n.damaged[second] = max(n.damaged[second], entries, 1)
}

// next is the next entry in arrival order.
func (r *nearReader) next() (Item, bool) {
	for len(r.entries) == 0 {
		if !r.nextBlock() {
			r.close()
			return Item{}, false
		}
	}
	e := entryOf(r.entries, r.second)
	r.entries = r.entries[entrySize:]
	return Item{Entry: e}, true
}

func (r *nearReader) nextBlock() bool {
	if n := len(r.blocks); n > 0 {
		p := r.blocks[n-1]
		r.blocks = r.blocks[:n-1]
		entries, _, err := readBlock(p.bytes(), r.second)
		if err != nil {
			// It was sound when the chain was followed.
			r.blocks, r.open, r.err = nil, nil, fmt.Errorf("timer: second %d: %w", r.second, err)
			return false
		}
		r.entries = entries
		return true
	}
	r.entries, r.open = r.open, nil
	return len(r.entries) > 0
}

// close lets go of the files, at the end of the entries or before.
func (r *nearReader) close() {
	for _, c := range r.held {
		c.readers--
	}
	r.held, r.blocks, r.entries, r.open = nil, nil, nil, nil
}
