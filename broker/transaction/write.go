package transaction

import (
	"fmt"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// maxOpDelayMs is how long an end waits at most to be written down, ms: after a kill, a rollback that
// was not is asked for again.
const maxOpDelayMs = 20

// ended notes that a half message was open until now. s.mu is held.
func (s *Service) ended(offset int64) {
	if s.ledger.close(offset) {
		s.ops.end(offset)
	}
}

// tellOps lets the driver write down what has ended, soon, or now when it is a record full. s.mu is
// held.
func (s *Service) tellOps() {
	if !s.opsArmed.Swap(true) || s.ops.size >= s.opts.OpMaxSize {
		s.driver.Wake()
	}
}

// writeOps writes down what has ended and who was asked. What could not be stored is written later.
func (s *Service) writeOps() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	for {
		s.mu.Lock()
		if s.ops.empty() {
			s.noteProgress()
			s.mu.Unlock()
			return nil
		}
		r := s.ops.compose(s.opts.OpMaxSize, s.ledger.asked, s.endedBelow())
		s.mu.Unlock()
		res, err := s.putOp(&r)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.ops.written(&r)
		s.progress.wrote(opMark{op: res.QueueOffset, last: r.last})
		s.mu.Unlock()
	}
}

// endedBelow is the log offset below which no copy is missing from what ops are to say. s.mu is held.
func (s *Service) endedBelow() int64 {
	below := s.opts.Log.MaxCommitLogOffset()
	for _, begun := range s.ending {
		below = min(below, begun)
	}
	return below
}

func (s *Service) putOp(r *opRecord) (store.PutResult, error) {
	now := s.opts.Store.NowMillis()
	rec := message.Record{
		Topic: message.TopicTransOpHalf, BornTimestamp: now, BornHost: s.opts.StoreHost, StoreHost: s.opts.StoreHost,
		Body: r.body, Properties: r.props,
	}
	res, _, err := s.opts.Appender.Put(&rec, appender.FromScheduler, nil)
	if err != nil {
		return res, fmt.Errorf("transaction: write down what has ended: %w", err)
	}
	s.opts.Stats.TopicCounters(topicOp).PutOK(1, int64(res.Size))
	return res, nil
}
