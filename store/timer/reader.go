package timer

// Reader gives the entries of one second in arrival order.
type Reader struct {
	far  farReader // nil: none, or all given
	near *nearReader
	err  error
}

// Read gives all entries that a second has now, near and far: what is added later is not among
// them. The error wraps ErrNotReady while its hour is not sorted. The owner closes the Reader
// before Saved.
func (t *Timeline) Read(second int64) (*Reader, error) {
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
	if r.far != nil {
		if item, ok := r.far.next(); ok {
			return item, true
		}
		r.endFar()
	}
	return r.near.next()
}

func (r *Reader) endFar() {
	if err := r.far.err(); err != nil && r.err == nil {
		r.err = err
	}
	r.far.close()
	r.far = nil
}

// Err tells, after Next has returned false, what is missing: it wraps ErrDamaged. What Next gave
// is sound.
func (r *Reader) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.near.err
}

// Close ends the Reader: records that it gave are not valid any more.
func (r *Reader) Close() {
	if r.far != nil {
		r.endFar()
	}
	r.near.close()
}
