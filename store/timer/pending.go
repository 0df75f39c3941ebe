package timer

import (
	"cmp"
	"slices"
)

// firstDue implements farPart.
func (f *far) firstDue() (ms, second int64, ok bool) {
	first := f.first
	for _, r := range f.hours {
		first.take(r.first())
	}
	return first.due, first.slot, first != never
}

// first is the first message of the first part that is not done and has one.
func (r *run) first() earliest {
	for _, s := range r.parts[r.find(r.gone):] {
		if s.first != never && !r.isGone(s.part) {
			return s.first
		}
	}
	return never
}

// each implements farPart.
func (f *far) each(from int64, visit func(second int64, item Item) bool) error {
	type part struct {
		begin int64
		source
	}
	var parts []part
	for b, list := range f.segments {
		for _, s := range list {
			if b.end() > from {
				parts = append(parts, part{b.begin(), s.source()})
			}
		}
		if r := f.runs(b.day)[b.n]; r != nil && b.end() > from {
			parts = append(parts, part{b.begin(), r.rest()})
		}
	}
	for _, r := range f.days {
		for _, s := range r.parts {
			if begin := r.partBegin(s.part); !r.isGone(s.part) && begin+secondsPerHour > from {
				parts = append(parts, part{begin, r.source(s)})
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.begin, b.begin) })
	for i := range parts {
		if more, err := parts[i].visit(from, visit); err != nil || !more {
			return err
		}
	}
	return nil
}

// visit shows the entries from a second on, and tells whether more are wanted.
func (s *source) visit(from int64, visit func(second int64, item Item) bool) (more bool, err error) {
	c := s.cursor()
	defer s.extent.close()
	var rec stored
	for c.next(&rec) {
		if rec.slot >= from && !visit(rec.slot, Item{Entry: rec.Entry, Record: rec.record()}) {
			return false, nil
		}
	}
	return true, c.failed
}
