package timer

import (
	"encoding/binary"
	"errors"
)

// cursor reads the records of a stretch of an extent in order. What is damaged is passed over:
// the next record is looked for at every place where one may begin.
type cursor struct {
	x        *extent
	id       uint64
	pos, end int64
	// below is the end of the log offsets that count: records from there on are passed over.
	below int64
	// passing unmaps the chunks that lie behind.
	passing bool
	// holes finds what of a chunk was ever written to; nil: all.
	holes bool

	found, cut int64 // records given, records passed over for below
	damage     func(pos, n int64)
	failed     error // of mapping, not damage
}

// next is the next sound record, valid until the chunk is unmapped: with passing, until the next
// call. It returns false at the end, or when a file could not be mapped.
func (c *cursor) next(s *stored) bool {
	bad := int64(-1)
	for c.pos < c.end && c.failed == nil {
		if c.passing && c.pos >= c.x.at+c.x.chunk {
			c.x.leave(c.pos)
		}
		n := c.check(c.pos, s)
		if n == 0 {
			if bad < 0 {
				bad = c.pos
			}
			c.skip()
			continue
		}
		c.report(bad, c.pos)
		bad = -1
		c.pos += n
		if s.LogOffset < c.below {
			c.found++
			return true
		}
		c.cut++
	}
	c.report(bad, c.end)
	return false
}

// check reads the record at a position; 0 when there is no sound one.
func (c *cursor) check(pos int64, s *stored) int64 {
	if c.end-pos < storedHeader {
		return 0
	}
	head, err := c.x.view(pos, storedHeader)
	if err != nil {
		c.fail(err)
		return 0
	}
	n := storedHead(head, s)
	if n == 0 || n > c.end-pos {
		return 0
	}
	if s.b, err = c.x.view(pos, n); err != nil {
		c.fail(err)
		return 0
	}
	if !soundStored(s.b, c.id, pos) {
		return 0
	}
	return n
}

// skip moves on to the next place where a record may begin.
func (c *cursor) skip() {
	c.pos += storedAlign
	for c.pos < c.end && c.failed == nil {
		if err := c.x.use(c.pos); err != nil {
			c.fail(err)
			c.pos = (c.pos/c.x.chunk + 1) * c.x.chunk
			continue
		}
		end := min(c.end, c.x.at+int64(len(c.x.b)))
		if c.holes {
			end = c.written(end)
		}
		for ; c.pos < end; c.pos += storedAlign {
			if binary.BigEndian.Uint16(c.x.b[c.pos-c.x.at:]) == storedMagic {
				return
			}
		}
	}
}

// fail keeps an error that says nothing about what is stored.
func (c *cursor) fail(err error) {
	if !errors.Is(err, ErrDamaged) {
		c.failed = err
	}
}

func (c *cursor) report(from, to int64) {
	if from >= 0 && to > from && c.damage != nil {
		c.damage(from, to-from)
	}
}

// written moves on to what was ever written to, and returns where that ends, at most at end.
func (c *cursor) written(end int64) int64 {
	from, to := c.x.maps[c.x.at/c.x.chunk].Written(int(c.pos - c.x.at))
	c.pos = min(c.x.at+int64(from), end) &^ (storedAlign - 1)
	return min(c.x.at+int64(to), end)
}
