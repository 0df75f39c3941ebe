package timer

// fewFar is how many messages firstFar looks at before more.
const fewFar = 64

// firstFar is the first instant of what is not in memory; never when there is nothing. It is the
// driver's, who holds the lock, but not while a day's files are read.
func (r *lister) firstFar(l *line) int64 {
	if l.farAt == r.state.progress {
		return l.far
	}
	l.farAt, l.far = r.state.progress, never
	c := cursor{r: r, l: l, from: l.loadedTo + 1}
	for {
		p := r.newPage(l, c.from, c.after, fewFar)
		if p == nil {
			return l.far
		}
		r.state.without(p.read)
		p.end()
		if c.take(p); len(c.page) > 0 {
			l.far = c.page[0].Due
			return l.far
		}
	}
}
