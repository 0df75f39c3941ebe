package timer

import "maps"

// snapshot takes the state of everything at one moment, and the log offset from which on the log is
// needed for it.
func (v *saver) snapshot() (c *checkpoint, progress, oldest int64, err error) {
	s := v.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := v.intake.whole(); err != nil {
		return nil, 0, 0, err
	}
	c = &checkpoint{
		epoch: v.log.Epoch(), logEnd: v.log.Published(), queueOffset: s.queueOffset,
		topics: s.topics.pending(), reached: v.reached,
	}
	c.copiesFrom = min(c.logEnd, s.copiesFrom())
	for i, l := range s.lines {
		if c.lines[i], err = l.t.State(); err != nil {
			return nil, 0, 0, err
		}
		c.reached = max(c.reached, l.now(v.clock.NowMillis())/1000)
		for _, sec := range l.loaded {
			for t, n := range sec.removed {
				c.topics[t.name] += n
			}
		}
	}
	v.reached = c.reached
	s.forgetMoved()
	c.moved, c.damaged = maps.Clone(s.moved), s.damage.before+s.damaged()
	return c, s.progress, v.pin.needed(), nil
}
