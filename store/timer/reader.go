package timer

import (
	"errors"
	"fmt"
)

// Reader gives the entries of one second: the far ones first, and equal instants in arrival order.
// Near ones come in arrival order, and far ones too unless InOrder tells better.
type Reader struct {
	far     farReader // nil: none
	farRead bool      // all of it was given
	near    *nearReader
}

// Read gives all entries that a second before NearEnd has now, near and far: what is added later
// is not among them. A Reader may stay open over everything but Close of the Timeline, Done of its
// second too. The error wraps ErrNotReady while the second's hour is not sorted.
func (t *Timeline) Read(second int64) (*Reader, error) {
	if second >= t.nearEnd {
		return nil, fmt.Errorf("%w: second %d is far", ErrNotReady, second)
	}
	r := &Reader{}
	if t.far != nil {
		var err error
		if r.far, err = t.far.read(second); err != nil {
			return nil, err
		}
	}
	// What the far part has of a second came before it was near.
	r.near = t.near.read(second)
	return r, nil
}

// Next is the next entry, false at the end or after damage: see Err.
func (r *Reader) Next() (Item, bool) {
	if r.far != nil && !r.farRead {
		if item, ok := r.far.next(); ok {
			return item, true
		}
		r.farRead = true
	}
	return r.near.next()
}

// InOrder tells that the far entries, which are those with a Record, come by Due. It is so whenever
// a second has very many of them: they need not be collected to be sorted.
func (r *Reader) InOrder() bool { return r.far == nil || r.far.inOrder() }

// Err tells, after Next has returned false, what is missing: it wraps ErrDamaged. What Next gave
// is sound.
func (r *Reader) Err() error {
	if r.far == nil {
		return r.near.err
	}
	return errors.Join(r.far.err(), r.near.err)
}

// Missing is where in the CommitLog the records of all entries lie that Next does not give because
// of damage to near files, and false when none are missing. The CommitLog has them: it is to be
// looked through for what belongs to the second.
func (r *Reader) Missing() (from, to int64, ok bool) {
	m := r.near.missing
	return m.from, m.to, m.from < m.to
}

// Hole is what of a second's far entries damage has taken. The CommitLog may have their records.
type Hole struct {
	Count  int64     // entries
	Likely []Between // where they lie if the file is in the order of the log
	Bounds Between   // where they lie in any case
	// Unread is why files could not be read, which is no damage: the second is to be read again.
	Unread error
}

// Hole is what Next does not give because of damage to far files; its Count is 0 when that is nothing.
// It is to be asked when Next has returned false.
func (r *Reader) Hole() Hole {
	if r.far == nil {
		return Hole{}
	}
	return r.far.hole()
}

// Close ends the Reader: records that it gave are not valid any more.
func (r *Reader) Close() {
	if r.far != nil {
		r.far.close()
	}
	r.near.close()
}
