package timer

import (
	"errors"

	"github.com/wheelmq/wheelmq/store/region"
)

// Close stops and saves.
func (s *Service) Close() error {
	s.cancel()
	s.wg.Wait()
	err := s.Save()
	back := err == nil && s.nothingPends()
	if errors.Is(err, region.ErrNoSpace) {
		// It is told by the save. Nothing is lost: the start after it reads more of the queue.
		err = nil
	}
	err = errors.Join(err, s.closeLines())
	s.lookout.close()
	if err == nil && back {
		err = s.handover.handBack()
	}
	return err
}

func (s *Service) closeLines() error {
	s.state.mu.Lock()
	s.state.closed = true
	s.state.mu.Unlock()
	s.looks.reading.Wait()
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.lines.close()
}

// nothingPends tells whether everything was delivered that ever waited, and no cancel waits for its
// message.
func (s *Service) nothingPends() bool {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if !s.handover.blocked || s.handover.inherits() || s.state.topics.total() > 0 || s.intake.untaken() > 0 || s.intake.rebuilds() || s.delivery.inFlight > 0 {
		return false
	}
	for _, l := range s.state.lines {
		stats := l.t.Stats()
		left := stats.Pending()
		for _, sec := range l.loaded {
			if !sec.finished() {
				return false
			}
			if sec.number < l.now(s.opts.Store.NowMillis())/1000 || !sec.hasCancels() {
				left -= l.t.Count(sec.number)
			}
		}
		if left > 0 {
			return false
		}
	}
	return true
}
