package transaction

// opMark is an op record and the last half message it is about.
type opMark struct{ op, last int64 }

// progress is what of the half and of the op topic is done with: a start reads them from there. The
// Service's lock guards it.
type progress struct {
	marks []opMark // op records that may be about open half messages, in order
	next  int64    // of the op queue, behind the last mark

	// half and op are offsets to be saved once the log is durable up to logEnd; savedHalf and savedOp
	// are saved.
	half, op, logEnd   int64
	savedHalf, savedOp int64
}

func (p *progress) wrote(m opMark) {
	p.marks = append(p.marks, m)
	p.next = m.op + 1
}

// opHead is the first op record that is about a half message at or past an offset.
func (p *progress) opHead(head int64) int64 {
	n := 0
	for n < len(p.marks) && p.marks[n].last < head {
		n++
	}
	if p.marks = p.marks[n:]; len(p.marks) == 0 {
		p.marks = nil
		return p.next
	}
	return p.marks[0].op
}

// noteProgress notes what is done with now, for when it is durable. s.mu is held.
func (s *Service) noteProgress() {
	p := &s.progress
	if p.half != p.savedHalf || p.op != p.savedOp {
		return // that is saved first
	}
	s.arrivals()
	half := s.ledger.head
	op := p.opHead(half)
	if half == p.half && op == p.op {
		return
	}
	p.half, p.op, p.logEnd = half, op, s.opts.Log.MaxCommitLogOffset()
}

// saveProgress saves what was noted if it is durable by now, and tells whether something is left.
func (s *Service) saveProgress() (left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.progress
	s.noteProgress()
	if p.half == p.savedHalf && p.op == p.savedOp {
		return false
	}
	if s.opts.Log.FlushedOffset() < p.logEnd {
		return true
	}
	s.opts.Offsets.CommitOwn(topicHalf, 0, p.half)
	s.opts.Offsets.CommitOwn(topicOp, 0, p.op)
	p.savedHalf, p.savedOp = p.half, p.op
	s.noteProgress()
	return p.half != p.savedHalf || p.op != p.savedOp
}
