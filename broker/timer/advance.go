package timer

// advance moves a line's hand past what is done.
func (d *driver) advance(l *line, lineNow int64) {
	for len(l.loaded) > 0 {
		sec := l.loaded[0]
		if !sec.finished() || sec.endMs() > lineNow {
			break
		}
		if err := l.t.Done(sec.number); err != nil {
			d.logger.WithError(err).WithField("line", l.name).Error("a second of timers cannot be ended")
			break
		}
		sec.close()
		l.loaded[0] = nil
		l.loaded = l.loaded[1:]
		d.state.progress++
	}
	for _, sec := range l.loaded {
		if sec.finished() && sec.endMs() <= lineNow {
			sec.trim()
		}
	}
	over := lineNow/1000 - 1
	if over < l.t.Hand() || len(l.loaded) > 0 && l.loaded[0].number <= over || l.loadedTo < over {
		return
	}
	// Seconds without entries: nothing is to be saved for them.
	if err := l.t.Done(over); err != nil {
		d.logger.WithError(err).WithField("line", l.name).Error("seconds without timers cannot be passed")
	}
}
