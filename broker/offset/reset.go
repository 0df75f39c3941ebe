package offset

import "github.com/wheelmq/wheelmq/difference"

// Taken says what became of a commit.
type Taken uint8

// What becomes of a commit.
const (
	Stored  Taken = iota
	Ignored       // the offset was reset, and the group has not gone on from there yet
	Arrived       // as Ignored, but it is the offset of the reset, for the first time: a client has taken it over
	Refused       // the group is the broker's own
)

// resetState is how far a reset of one queue has come.
type resetState uint8

const (
	notReset resetState = iota
	// told to nobody: the next pull is sent to the offset.
	resetPending
	// a pull was sent there. Until the next one, what is committed is still of the time before.
	resetSent
	// as resetSent, and a client has committed the offset.
	resetArrived
)

// Reset sets a group's offset in a queue (request code 222). The group's clients are sent there by
// their next pull; until they go on from there, what they commit is ignored. It survives a restart.
func (t *Table) Reset(group, topic string, queueID int32, offset int64) {
	r := t.row([]byte(group), []byte(topic))
	r.mu.Lock()
	p := r.queue(queueID)
	if p.reset == notReset {
		t.resets.Add(1)
	}
	p.committed, p.reset = max(offset, 0), resetPending
	r.mu.Unlock()
	t.commits.Add(1)
	t.changed()
}

// untilFollowed tells whether a reset is done only when a client has followed it.
func (t *Table) untilFollowed() bool {
	return t.opts.Differences == nil || t.opts.Differences.Use(difference.ResetUntilFollowed)
}

// Resetting tells whether any reset is not done. It costs nothing.
func (t *Table) Resetting() bool { return t.resets.Load() > 0 }

// ResetPending tells whether the next pull is to be sent elsewhere.
func (t *Table) ResetPending(group, topic string, queueID int32) bool {
	r := find(t, group, topic)
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.queues[queueID]
	return p != nil && p.reset == resetPending
}

// TakeReset is asked by every pull, before it reads at an offset: it returns where the pull must be
// sent to when the group's offset was reset since its last one.
func (t *Table) TakeReset(group, topic string, queueID int32, at int64) (offset int64, ok bool) {
	if !t.Resetting() {
		return 0, false
	}
	r := find(t, group, topic)
	if r == nil {
		return 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.queues[queueID]
	if p == nil || p.reset == notReset {
		return 0, false
	}
	if p.committed == None && at == 0 {
		t.forgetReset(p) // at the beginning already
		return 0, false
	}
	if p.reset == resetPending && t.untilFollowed() {
		p.reset = resetSent
		return max(p.committed, 0), true
	}
	pending := p.reset == resetPending
	p.reset = notReset
	t.resets.Add(-1)
	t.changed()
	return max(p.committed, 0), pending
}

// FollowReset ends a reset of a queue that is popped: no client remembers another offset. It tells
// whether there was one.
func (t *Table) FollowReset(group, topic string, queueID int32) bool {
	r := find(t, group, topic)
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.queues[queueID]
	if p == nil || p.reset == notReset {
		return false
	}
	t.forgetReset(p)
	t.changed()
	return true
}

// beginAnew sends the members of a group to the beginning of a topic that was deleted and is created
// again. Nothing is committed there.
func (t *Table) beginAnew(old *row) {
	if t.opts.Differences != nil && !t.opts.Differences.On(difference.RecreatedTopicAnew) {
		return
	}
	r := t.row([]byte(old.group), []byte(old.topic))
	old.mu.Lock()
	defer old.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for queueID, was := range old.queues {
		if p := r.queue(queueID); was.pulled > 0 && p.reset == notReset {
			p.reset = resetPending
			t.resets.Add(1)
		}
	}
}

// Clone gives a group the offsets of another in a topic, in place of its own (request code 314). A
// group that has none there leaves the other as it is.
func (t *Table) Clone(from, to, topic string) {
	source := t.find([]byte(from), []byte(topic))
	if source == nil || from == to {
		return
	}
	offsets := make(map[int32]int64)
	source.mu.Lock()
	for queueID, p := range source.queues {
		if p.committed != None {
			offsets[queueID] = p.committed
		}
	}
	source.mu.Unlock()
	if len(offsets) == 0 {
		return
	}
	target := t.row([]byte(to), []byte(topic))
	target.mu.Lock()
	for _, p := range target.queues {
		t.forgetReset(p)
		p.committed = None
	}
	for queueID, committed := range offsets {
		target.queue(queueID).committed = committed
	}
	target.mu.Unlock()
	t.commits.Add(1)
	t.changed()
}

// forgetReset drops what is left of a reset. The row's lock is held.
func (t *Table) forgetReset(p *progress) {
	if p.reset != notReset {
		p.reset = notReset
		t.resets.Add(-1)
	}
}

// taken tells what becomes of a commit while a reset is not done. The row's lock is held.
func (p *progress) taken(offset int64) Taken {
	switch {
	case p.reset == notReset:
		return Stored
	case p.reset == resetSent && offset == max(p.committed, 0):
		p.reset = resetArrived
		return Arrived
	}
	return Ignored
}
