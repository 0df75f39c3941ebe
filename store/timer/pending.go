package timer

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
