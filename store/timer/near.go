package timer

import (
	"errors"
	"fmt"
)

// near keeps entries by second: the newest of each in an open block, the others in the TimerLog.
type near struct {
	log     *timerLog
	wheel   wheel
	open    openBlocks
	logMax  int64           // end of the last record that an entry names
	damaged map[int64]int64 // entries found missing, by second
	first   firstDue
}

func openNear(opts Options, saved *State, logEnd int64) (*near, error) {
	log, err := openTimerLog(opts, saved)
	if err != nil {
		return nil, err
	}
	n := &near{log: log}
	if saved == nil {
		return n, nil
	}
	n.logMax = saved.LogMax
	for i := range saved.Slots {
		v := &saved.Slots[i]
		if log.find(v.Head) == nil || log.find(v.Tail) == nil {
			return nil, errors.Join(fmt.Errorf("%w: second %d has blocks in files that are not named", ErrDamaged, v.Second), log.close())
		}
		n.restore(v)
	}
	if n.logMax > logEnd {
		if err := n.cut(logEnd); err != nil {
			return nil, errors.Join(fmt.Errorf("cut at the end of the CommitLog, %d: %w", logEnd, err), log.close())
		}
	}
	return n, nil
}

// restore fills the slot of a second as a state names it.
func (n *near) restore(saved *SlotState) {
	h := n.wheel.make(saved.Second)
	n.wheel.added(h, saved.Second, saved.Oldest)
	s := &h.slots[saved.Second%secondsPerHour]
	s.base, s.head, s.tail, s.count = saved.Head, saved.Head, saved.Tail, saved.Count
	n.wheel.entries += int64(saved.Count) - 1
}

// cut removes the entries whose record does not lie before the end of the CommitLog.
func (n *near) cut(logEnd int64) error {
	var behind []int64
	n.wheel.all(func(second int64, _ *slot) { behind = append(behind, second) })
	n.logMax = logEnd
	for _, second := range behind {
		if err := n.cutSecond(second, logEnd); err != nil {
			return err
		}
	}
	return nil
}

func (n *near) cutSecond(second, logEnd int64) error {
	r := n.read(second)
	defer r.close()
	var kept []Entry
	for {
		item, ok := r.next()
		if !ok {
			break
		}
		if item.LogOffset < logEnd {
			kept = append(kept, item.Entry)
		}
	}
	if r.err != nil {
		return r.err
	}
	if len(kept) == int(n.wheel.slot(second).count) {
		return nil
	}
	n.done(second)
	for _, e := range kept {
		if err := n.add(e, second); err != nil {
			return err
		}
	}
	return nil
}

// add keeps an entry in the slot of a second. After an error nothing has changed.
func (n *near) add(e Entry, second int64) error {
	h := n.wheel.make(second)
	s := &h.slots[second%secondsPerHour]
	if s.open == noBlock {
		if err := n.begin(s, second); err != nil {
			return err
		}
	}
	b, used := &n.open.at(s.open).b, &n.open.used[s.open]
	putEntry(b[int(*used)*entrySize:], e, second)
	if *used+1 == blockEntries {
		pos, err := n.log.append(second, s.base, b[:])
		if err != nil {
			return err
		}
		n.filled(s, pos)
	} else {
		*used++
	}
	n.wheel.added(h, second, e.LogOffset)
	n.logMax = max(n.logMax, e.LogOffset+int64(e.Size))
	return nil
}

// filled takes in that all of a slot's open block is in one block of the log, which replaces
// those that have parts of it.
func (n *near) filled(s *slot, pos int64) {
	if s.base == none {
		s.tail = pos
	}
	s.base, s.head = pos, pos
	n.open.release(s.open)
	s.open = noBlock
}

// begin gives a slot an open block. When there are too many, another one is written.
func (n *near) begin(s *slot, second int64) error {
	if s.open = n.open.take(second); s.open != noBlock {
		return nil
	}
	i := n.open.victim()
	old := n.wheel.slot(n.open.at(i).second)
	if err := n.write(old, i); err != nil {
		return err
	}
	old.base, old.open = old.head, noBlock
	n.open.release(i)
	s.open = n.open.take(second)
	return nil
}

// write writes what no block has of an open block, as a block of its own.
func (n *near) write(s *slot, i int32) error {
	o, entries := n.open.at(i), n.open.unwritten(i)
	if len(entries) == 0 {
		return nil
	}
	pos, err := n.log.append(o.second, s.head, entries)
	if err != nil {
		return err
	}
	if s.head == none {
		s.tail = pos
	}
	s.head, o.written = pos, int(n.open.used[i])
	return nil
}

// done lets the entries of a second go.
func (n *near) done(second int64) {
	s := n.wheel.slot(second)
	if s == nil {
		return
	}
	if s.open != noBlock {
		n.open.release(s.open)
	}
	n.wheel.remove(second)
	n.first = firstDue{}
}

func (n *near) next(from int64) (int64, bool) { return n.wheel.next(from) }

func (n *near) count(second int64) int64 {
	if s := n.wheel.slot(second); s != nil {
		return int64(s.count)
	}
	return 0
}

// firstDue is the lowest Due of the messages of a second, false when there are only cancels.
func (n *near) firstDue(second int64) (ms int64, ok bool, err error) {
	if c := &n.first; c.ok && c.second == second && c.count == n.count(second) {
		return c.ms, true, nil
	}
	r := n.read(second)
	defer r.close()
	for item, more := r.next(); more; item, more = r.next() {
		if item.Flags == 0 && (!ok || item.Due < ms) {
			ms, ok = item.Due, true
		}
	}
	n.first = firstDue{second, n.count(second), ms, ok}
	return ms, ok, r.err
}

// firstDue is what was found about a second when it had so many entries.
type firstDue struct {
	second, count, ms int64
	ok                bool
}

func (n *near) oldest() (int64, bool) { return n.wheel.oldest() }

func (n *near) stats() Stats {
	s := Stats{Near: n.wheel.entries, Files: len(n.log.chunks)}
	for _, lost := range n.damaged {
		s.Damaged += lost
	}
	for _, c := range n.log.chunks {
		s.NearBytes += min(n.log.end-c.base, n.log.chunkSize)
	}
	return s
}

// state writes the open blocks and fills in what names everything near.
func (n *near) state(s *State) error {
	if err := n.writeOpen(); err != nil {
		return err
	}
	n.dropChunks()
	n.log.name()
	s.ChunkSize, s.LogEnd, s.LogMax = int32(n.log.chunkSize), n.log.end, n.logMax
	for _, c := range n.log.chunks {
		s.Chunks = append(s.Chunks, c.base)
	}
	s.Slots = make([]SlotState, 0, n.wheel.live())
	n.wheel.all(func(second int64, at *slot) {
		s.Slots = append(s.Slots, SlotState{Second: second, Head: at.head, Tail: at.tail, Count: at.count, Oldest: at.oldest})
	})
	return nil
}

func (n *near) writeOpen() error {
	for i := range int32(len(n.open.slabs) * slabBlocks) {
		if o := n.open.at(i); int(n.open.used[i]) > o.written {
			if err := n.write(n.wheel.slot(o.second), i); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropChunks gives up the files that no slot's chain passes.
func (n *near) dropChunks() {
	if len(n.log.chunks) < 2 {
		return
	}
	// Each chain counts +1 where it begins and -1 behind its end: sums tell what is passed.
	passed := make([]int32, len(n.log.chunks)+1)
	n.wheel.all(func(_ int64, s *slot) {
		if s.head != none {
			passed[n.log.index(s.tail)]++
			passed[n.log.index(s.head)+1]--
		}
	})
	sum, i := int32(0), 0
	n.log.drop(func(*chunk) bool {
		sum += passed[i]
		i++
		return sum > 0
	})
}

func (n *near) sync() error { return n.log.sync() }

func (n *near) saved(s *State) error { return n.log.saved(s.Chunks) }

func (n *near) close() error { return n.log.close() }
