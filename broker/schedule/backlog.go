package schedule

const (
	// orderSlackMs is by how much a due instant may lie before an earlier one of its run. Senders
	// take their due instants before they queue for the log, and pass one another by a
	// millisecond or two; such a message waits for the one before it that much longer.
	orderSlackMs = 2
	// freeRuns is how many runs a backlog has before the slack grows, doubling with every
	// slackRuns more: memory stays bounded, and a large step always makes a run of its own.
	freeRuns  = 1024
	slackRuns = 128
	maxRuns   = 4096
)

// run is a stretch of a level's queue in the order of its due instants: its first message that
// is not delivered says when there is something to do. done ≤ next ≤ end, units.
type run struct {
	done int64 // units below are delivered
	next int64 // units below are appended
	end  int64
	due  int64 // instant of unit next, ms; never when next is end
}

// backlog is what a level still has to deliver. Its queue is in the order of due instants as
// long as the level's delay stays the same and the clock does not step back; each change begins
// a new run. So there are as many runs as changes, not as messages, and what is due before its
// predecessor is found by looking at the head of every run.
type backlog struct {
	runs    []*run // ascending, apart from one another; the last one grows
	scanned int64  // units below belong to a run or are delivered
	top     int64  // the latest due instant of the run that grows, ms
	closed  bool   // the last run must not grow: its order is not known
	exact   bool   // every step back begins a run, as long as there are few
}

// newBacklog returns a backlog whose units below offset are delivered and which knows nothing of
// those from it on.
func newBacklog(offset int64) backlog { return backlog{scanned: offset, closed: true} }

// add takes in the next unit of the queue, whose due instant is given, ms.
func (b *backlog) add(due int64) {
	last := b.last()
	if last == nil || b.closed || due < b.top-b.slack() {
		last = &run{done: b.scanned, next: b.scanned, end: b.scanned}
		b.runs = append(b.runs, last)
		b.top, b.closed = due, false
	}
	if last.next == last.end {
		last.due = due
	}
	last.end++
	b.scanned++
	b.top = max(b.top, due)
}

func (b *backlog) last() *run {
	if len(b.runs) == 0 {
		return nil
	}
	return b.runs[len(b.runs)-1]
}

// slack is the step back, ms, that does not begin a run.
func (b *backlog) slack() int64 {
	switch n := len(b.runs); {
	case n < freeRuns && b.exact:
		return 0
	case n < freeRuns:
		return orderSlackMs
	case n < maxRuns:
		return orderSlackMs << ((n - freeRuns) / slackRuns)
	default:
		return never / 2
	}
}

// earliest is the run whose head is due first, or nil.
func (b *backlog) earliest() *run {
	var first *run
	for _, r := range b.runs {
		if r.next < r.end && (first == nil || r.due < first.due) {
			first = r
		}
	}
	return first
}

// due is the instant of the first message that is not appended, ms; never when there is none.
func (b *backlog) due() int64 {
	if r := b.earliest(); r != nil {
		return r.due
	}
	return never
}

// sweep forgets the runs that are delivered, but for the last, which may grow.
func (b *backlog) sweep() {
	kept := b.runs[:0]
	for i, r := range b.runs {
		if r.done < r.end || i == len(b.runs)-1 {
			kept = append(kept, r)
		}
	}
	clear(b.runs[len(kept):])
	b.runs = kept
}

// lowest is the first unit that is not delivered, or the end of what is known.
func (b *backlog) lowest() int64 {
	for _, r := range b.runs {
		if r.done < r.end {
			return r.done
		}
	}
	return b.scanned
}

// count is how many known units are not delivered.
func (b *backlog) count() (n int64) {
	for _, r := range b.runs {
		n += r.end - r.done
	}
	return n
}

// eachPending visits the units of [from, to) that are not delivered, in order.
func (b *backlog) eachPending(from, to int64, visit func(offset int64)) {
	for _, r := range b.runs {
		for offset := max(from, r.done); offset < min(to, r.end); offset++ {
			visit(offset)
		}
	}
	for offset := max(from, b.scanned); offset < to; offset++ {
		visit(offset)
	}
}

// remove notes that a unit is delivered, before anything is appended. It returns whether the
// unit was pending.
func (b *backlog) remove(offset int64) bool {
	for i, r := range b.runs {
		if offset < r.done || offset >= r.end {
			continue
		}
		if offset > r.done {
			rest := &run{done: r.done, next: r.done, end: offset, due: r.due}
			b.runs = append(b.runs[:i], append([]*run{rest}, b.runs[i:]...)...)
		}
		r.done, r.next = offset+1, offset+1
		return true
	}
	return false
}

// clip drops the units outside of [lowest, highest), which the queue does not have, and returns
// how many of them were not delivered.
func (b *backlog) clip(lowest, highest int64) (dropped int64) {
	inside := func(offset int64) int64 { return min(max(offset, lowest), highest) }
	before := b.count()
	for _, r := range b.runs {
		r.done, r.next, r.end = inside(r.done), inside(r.next), inside(r.end)
	}
	b.scanned, b.closed = inside(b.scanned), true
	return before - b.count()
}

// spans lists the pending stretches as [first, end) and ends with where the known part ends.
func (b *backlog) spans() [][2]int64 {
	var list [][2]int64
	end := int64(-1)
	for _, r := range b.runs {
		if r.done < r.end {
			list, end = append(list, [2]int64{r.done, r.end}), r.end
		}
	}
	if len(list) > 0 && end < b.scanned {
		list = append(list, [2]int64{b.scanned, b.scanned})
	}
	return list
}

// restore is the inverse of spans. It returns false, and an empty backlog, when list cannot be
// one that begins at offset.
func restore(offset int64, list [][2]int64) (backlog, bool) {
	b := newBacklog(offset)
	for i, s := range list {
		if s[0] < b.scanned || s[1] < s[0] || i == 0 && s[0] != offset {
			return newBacklog(offset), false
		}
		if s[0] < s[1] {
			b.runs = append(b.runs, &run{done: s[0], next: s[0], end: s[1], due: never})
		}
		b.scanned = s[1]
	}
	return b, true
}
