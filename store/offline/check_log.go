package offline

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// checkLog reads every record of every file.
func (c *checker) checkLog() error {
	c.r.LogEnd = c.d.logMin()
	for i := range c.d.files {
		if err := c.checkLogFile(i); err != nil {
			return err
		}
	}
	return nil
}

// checkLogFile reads the records of one file. Where none can be read, it looks for the next.
func (c *checker) checkLogFile(i int) error {
	f := c.d.files[i]
	b, err := c.d.bytesAt(f.start)
	if err != nil {
		return err
	}
	const step = 1 << 20
	for at, told := int64(0), int64(0); at < f.size; {
		if at >= told {
			c.progress(f.start-c.d.logMin()+at, c.total)
			told += step
		}
		if store.IsBlank(b[at:]) {
			if !c.ended {
				c.r.LogEnd = f.start + f.size
			}
			break
		}
		v, err := soundAt(b, f.start, at)
		if err != nil {
			filled := at + dirty(b[at:])
			next := nextSound(b[:filled], f.start, at+1)
			if next == filled {
				next = f.size
			}
			if err := c.gap(i, at, next, min(filled, next)-at, err); err != nil {
				return err
			}
			at = next
			continue
		}
		if err := c.record(f, at, &v); err != nil {
			return err
		}
		at += int64(v.Size)
	}
	return nil
}

// soundAt reads the record at an offset of a file's bytes, with its CRC and its own offset.
func soundAt(b []byte, start, at int64) (message.View, error) {
	v, err := message.ParseVerify(b[at:])
	if err == nil && v.CommitLogOffset != start+at {
		err = fmt.Errorf("the record says that it belongs to %d", v.CommitLogOffset)
	}
	return v, err
}

// magic begins the magic word of every version of a record.
var magic = []byte{0xDA, 0xA3, 0x20}

// nextSound looks from an offset on for a record that can be read, or returns the length of b.
func nextSound(b []byte, start, from int64) int64 {
	for at := from; ; at++ {
		if at+4 > int64(len(b)) {
			return int64(len(b))
		}
		i := bytes.Index(b[at+4:], magic)
		if i < 0 {
			return int64(len(b))
		}
		at += int64(i)
		if _, err := soundAt(b, start, at); err == nil {
			return at
		}
	}
}

// gap judges the bytes [at, next) of a file, which are no records: the end of the log with
// what a crash may leave behind it, or damage. The first of them, filled in number, are not all
// zero.
func (c *checker) gap(i int, at, next, filled int64, why error) error {
	f := c.d.files[i]
	begin := f.start + at
	if c.ended {
		c.cut += filled
		return nil
	}
	follows := next < f.size
	if !follows {
		var err error
		if follows, err = c.recordsAfter(i); err != nil {
			return err
		}
	}
	switch {
	case follows && begin < c.durable:
		c.r.add("log", Finding{true, f.name, at, fmt.Sprintf("no record for %d bytes: %v", next-at, why)})
		return nil
	case begin < c.durable:
		c.r.add("log", Finding{true, f.name, at, fmt.Sprintf("the log ends here, it was durable up to %d: %v", c.durable, why)})
	case filled > 0 || follows:
		c.r.add("log", Finding{false, f.name, at, fmt.Sprintf("the log ends here, in what a crash left: %v", why)})
	}
	c.ended = true
	c.cut += filled
	return nil
}

// recordsAfter tells whether a later file begins with a record. What the caller reads stays
// mapped.
func (c *checker) recordsAfter(i int) (bool, error) {
	for _, f := range c.d.files[i+1:] {
		r, err := c.d.fs.Open(f.name, 0)
		if err != nil {
			return false, err
		}
		_, unsound := soundAt(r.Bytes(), f.start, 0)
		if err := r.Close(); err != nil {
			return false, err
		}
		if unsound == nil {
			return true, nil
		}
	}
	return false, nil
}

// dirty is how many bytes of b lie before its zeros at the end.
func dirty(b []byte) int64 {
	n := len(b)
	for n >= 8 && binary.NativeEndian.Uint64(b[n-8:n]) == 0 {
		n -= 8
	}
	for n > 0 && b[n-1] == 0 {
		n--
	}
	return int64(n)
}

// record checks a sound record against its unit.
func (c *checker) record(f mappedFile, at int64, v *message.View) error {
	if c.ended {
		c.behind++
		c.cut += int64(v.Size)
		return nil
	}
	c.r.Records++
	c.r.LogEnd = v.CommitLogOffset + int64(v.Size)
	if !store.InQueue(v.SysFlag) {
		return nil
	}
	if v.CommitLogOffset < c.notes.Deleted[string(v.Topic)] {
		return nil
	}
	account := c.accountOf(v.Topic, v.QueueID)
	if account == nil {
		return nil
	}
	account.begin(v.QueueOffset)
	if q := account.q; v.QueueOffset >= q.max || v.QueueOffset < q.min {
		account.lacks(Finding{Damage: v.CommitLogOffset < c.durable, File: f.name, Offset: at}, v.QueueOffset)
		return nil
	}
	return c.compare(account, f, at, v)
}

// compare checks a record against the unit at its offset.
func (c *checker) compare(a *account, f mappedFile, at int64, v *message.View) error {
	q := a.q
	u, err := q.unit(v.QueueOffset)
	if err != nil {
		return err
	}
	if u.CommitLogOffset != v.CommitLogOffset {
		a.misplaced = append(a.misplaced, Finding{true, f.name, at,
			fmt.Sprintf("the record's unit leads elsewhere: %s queue %d offset %d", q.topic, q.id, v.QueueOffset)})
		return nil
	}
	a.seen.set(v.QueueOffset - q.min)
	if u.Size != v.Size {
		c.unitFinding(q, v.QueueOffset, fmt.Sprintf("the unit says %d bytes, its record at %d has %d", u.Size, v.CommitLogOffset, v.Size))
	} else if !tagsCodeFits(v, u.TagsCode) {
		c.unitFinding(q, v.QueueOffset, fmt.Sprintf("the unit's tagsCode %d does not belong to its record at %d", u.TagsCode, v.CommitLogOffset))
	}
	return nil
}

func (c *checker) unitFinding(q *queue, offset int64, what string) {
	file, at := q.place(offset)
	c.r.add("unit", Finding{true, file, at, what})
}
