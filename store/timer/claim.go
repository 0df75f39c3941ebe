package timer

import (
	"encoding/binary"
	"math"
	"slices"
)

// claim tells which log offsets of its bucket a segment, or what was made of it, has. Records are
// added in the order of the log, so it has all up to the highest, except where damage left a gap.
type claim struct {
	maxLog int64 // -1: none
	gaps   []gap
	bad    bool // what was read last is damaged
}

// gap is a place where records are damaged: the log offsets between those before and behind it.
type gap struct{ after, before int64 }

// maxGaps bounds the gaps of a claim. Beyond, one stands for all: rather is a record taken twice
// than lost.
const maxGaps = 64

// damaged takes in that damage was read.
func (c *claim) damaged() { c.bad = true }

// sound takes in that a record was read.
func (c *claim) sound(logOffset int64) {
	if c.bad && logOffset > c.maxLog {
		c.gap(gap{c.maxLog, logOffset})
	}
	c.bad = false
	c.maxLog = max(c.maxLog, logOffset)
}

// end takes in that the last record was to be at a log offset.
func (c *claim) end(maxLog int64) {
	if c.maxLog < maxLog {
		c.gap(gap{c.maxLog, maxLog + 1})
		c.maxLog = maxLog
	}
	c.bad = false
}

func (c *claim) gap(g gap) {
	if len(c.gaps) == maxGaps {
		c.gaps = []gap{{c.gaps[0].after, g.before}}
		return
	}
	c.gaps = append(c.gaps, g)
}

func (c *claim) has(logOffset int64) bool {
	return logOffset <= c.maxLog &&
		!slices.ContainsFunc(c.gaps, func(g gap) bool { return logOffset > g.after && logOffset < g.before })
}

// claims is what any of them has.
type claims []claim

func (l claims) has(logOffset int64) bool {
	return slices.ContainsFunc(l, func(c claim) bool { return c.has(logOffset) })
}

// highest is the highest log offset of all.
func (l claims) highest() int64 {
	highest := int64(-1)
	for i := range l {
		highest = max(highest, l[i].maxLog)
	}
	return highest
}

// with adds claims, and leaves out those that say nothing more than another.
func (l claims) with(more ...claim) claims {
	all := slices.Concat(l, more)
	whole := claim{maxLog: -1}
	for _, c := range all {
		if len(c.gaps) == 0 {
			whole.maxLog = max(whole.maxLog, c.maxLog)
		}
	}
	kept := claims{}
	if whole.maxLog >= 0 {
		kept = append(kept, whole)
	}
	for _, c := range all {
		if len(c.gaps) > 0 && c.maxLog > whole.maxLog {
			kept = append(kept, c)
		}
	}
	return kept
}

// below is the claims without log offsets from one on.
func (l claims) below(end int64) claims {
	var kept claims
	for _, c := range l {
		c.maxLog = min(c.maxLog, end-1)
		kept = kept.with(c)
	}
	return kept
}

// append appends the claims as varints: how many, and of each the highest offset, how many gaps,
// and their bounds.
func (l claims) append(b []byte) []byte {
	b = binary.AppendVarint(b, int64(len(l)))
	for _, c := range l {
		b = binary.AppendVarint(b, c.maxLog)
		b = binary.AppendVarint(b, int64(len(c.gaps)))
		for _, g := range c.gaps {
			b = binary.AppendVarint(b, g.after)
			b = binary.AppendVarint(b, g.before)
		}
	}
	return b
}

func decodeClaims(d *numbers) (l claims) {
	for n := d.length(2); n > 0 && !d.bad; n-- {
		c := claim{maxLog: d.next(-1, math.MaxInt64)}
		for m := d.length(2); m > 0 && !d.bad; m-- {
			after := d.next(-1, math.MaxInt64-1)
			c.gaps = append(c.gaps, gap{after, d.next(after+1, math.MaxInt64)})
		}
		l = append(l, c)
	}
	return l
}
