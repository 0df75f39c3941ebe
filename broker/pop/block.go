package pop

import "slices"

// blocked is a message that was handed out in order.
type blocked struct {
	offset int64
	due    int64 // ms of message time, when it is visible again
	count  int32 // how often it was handed out before
	acked  bool
}

// block is what was handed out last of a queue that is popped in order. Until all of it is
// acknowledged or visible again, the queue is handed out to nobody but who asks with its attempt.
type block struct {
	popTime int64
	attempt string // attemptId of the pop; nothing: it had none
	msgs    []blocked
	told    bool // that it is visible again
}

// until is when all that is not acknowledged is visible; 0: all is acknowledged.
func (b *block) until() (due int64) {
	for i := range b.msgs {
		if !b.msgs[i].acked {
			due = max(due, b.msgs[i].due)
		}
	}
	return due
}

// next is the first offset that is not acknowledged, or the one behind all.
func (b *block) next() int64 {
	for i := range b.msgs {
		if !b.msgs[i].acked {
			return b.msgs[i].offset
		}
	}
	return b.msgs[len(b.msgs)-1].offset + 1
}

// done tells whether all is acknowledged.
func (b *block) done() bool { return b.until() == 0 }

// clone returns a copy.
func (b *block) clone() *block {
	c := *b
	c.msgs = slices.Clone(b.msgs)
	return &c
}

func (b *block) find(offset int64) *blocked {
	for i := range b.msgs {
		if b.msgs[i].offset == offset {
			return &b.msgs[i]
		}
	}
	return nil
}

// inFlight is how many messages are not acknowledged and not visible.
func (b *block) inFlight(now int64) (n int64) {
	for i := range b.msgs {
		if !b.msgs[i].acked && b.msgs[i].due > now {
			n++
		}
	}
	return n
}

// count is how often a message has been handed out before, for a pop of an attempt: the pop that
// repeats the block's own does not count.
func (b *block) count(attempt string, offset int64) int32 {
	if b == nil {
		return 0
	}
	m := b.find(offset)
	switch {
	case m == nil:
		return 0
	case b.attempt != "" && b.attempt == attempt:
		return m.count
	}
	return m.count + 1
}
