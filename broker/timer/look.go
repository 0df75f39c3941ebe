package timer

// plan is what a pass has found out.
type plan struct {
	wake    int64 // when to look again, ms of message time
	due     int64 // when the first message is due, or is tried again, or is to be taken in
	again   bool  // there is more to do now
	settled bool  // everything due is stored for good
	took    bool  // records were taken in
}

// at plans for an instant at which a message is due, or tried again.
func (p *plan) at(due int64) { p.due, p.wake = min(p.due, due), min(p.wake, due) }

// look finds out when a line has something to do.
func (d *driver) look(l *line, now int64, p *plan) {
	lineNow := l.now(now)
	d.lookLoaded(l, now, p)
	p.again = p.again || l.loading != nil
	number, more := l.next()
	if more && !l.notReady {
		p.wake = min(p.wake, max(toStore(l.loadFrom(number)*1000, lineNow, now), now+1))
	}
	if l.blocked != "" {
		p.wake = min(p.wake, now+blockedPollMs)
	}
	if l.wall && wallClock(l.clock) && (more || len(l.loaded) > 0) {
		p.wake = min(p.wake, now+wallPollMs) // a step of the wall tells nobody
	}
	if !d.inOrder || !more || !l.idle() {
		return
	}
	if number < l.t.NearEnd() && !l.notReady {
		p.again = true // it can be loaded, for its first instant
		return
	}
	p.at(max(now+1, toStore(d.lister.firstFar(l), lineNow, now)))
	// Who came while the files were read may have changed what is first.
	p.again = p.again || l.farAt != d.state.progress
}

// lookLoaded finds out when the seconds in memory have something to do.
func (d *driver) lookLoaded(l *line, now int64, p *plan) {
	lineNow := l.now(now)
	for _, sec := range l.loaded {
		switch due := d.delivery.nextDue(sec); {
		case due == never && sec.endMs() > lineNow:
			// Until its hand is past a second it keeps the log.
			p.wake = min(p.wake, toStore(sec.endMs(), lineNow, now))
		case due > lineNow:
			p.at(toStore(due, lineNow, now))
		case sec.heldBack(lineNow):
			p.wake = min(p.wake, toStore(sec.endMs()+repairHoldMs, lineNow, now))
		case d.withheld.now != "" || now < d.delivery.storing.retryAt || d.delivery.full():
			// Who ends that wakes the driver.
		default:
			p.again = true
		}
	}
}

// blockedPollMs is how often files are tried that could not be read, ms.
const blockedPollMs = 1000

// wallPollMs is how often a line that the wall decides looks at it, ms.
const wallPollMs = 500

// waitsForFiles tells that something due cannot be read yet, or that exact instants are asked for
// and files are being sorted.
func (d *driver) waitsForFiles(now int64) bool {
	for _, l := range d.state.lines {
		if d.inOrder && l.jobs > 0 && l.jobError == nil {
			return true
		}
		if !l.notReady || l.blocked != "" {
			continue
		}
		if number, ok := l.next(); ok && number <= l.now(now)/1000 {
			return true
		}
	}
	return false
}
