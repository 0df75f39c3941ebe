package transaction

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// takeStock finds out at the start what is open: what lies in the half topic behind the saved offset,
// less what op records name, less what was committed since the last of them.
func (s *Service) takeStock() error {
	q := s.opts.Log.Queue(topicHalf, 0)
	if q == nil {
		return nil
	}
	from := s.saved(topicHalf, q)
	s.ledger.begin(from)
	s.ledger.grow(q.Max())
	endedBelow, err := s.readOps()
	if err != nil {
		return err
	}
	s.progress.half, s.progress.savedHalf = from, from
	s.driver.cursor = from
	if s.ledger.open == 0 {
		return nil
	}
	if err := s.recognise(q, endedBelow); err != nil {
		return err
	}
	s.count(q)
	s.opts.Logger.WithFields(logrus.Fields{"open": s.ledger.open, "from": s.ledger.head}).Info("transactions wait for their end")
	return nil
}

// saved is where a start begins to read a queue.
func (s *Service) saved(topic []byte, q *store.ConsumeQueue) int64 {
	return min(max(s.opts.Offsets.Query(group, topic, 0), q.Min()), q.Max())
}

// readOps takes what op records name out of the ledger, and returns the log offset below which they
// name all that was committed; 0: nobody knows.
func (s *Service) readOps() (endedBelow int64, err error) {
	defer store.CatchFault(&err)
	q := s.opts.Log.Queue(topicOp, 0)
	if q == nil {
		return 0, nil
	}
	from := s.saved(topicOp, q)
	s.progress.op, s.progress.savedOp, s.progress.next = from, from, from
	unreadable := 0
	var damage error // the last of it
	var units [256]store.Unit
	for at := from; at < q.Max(); {
		n, err := q.Units(at, units[:])
		if err != nil {
			return 0, err
		}
		if n == 0 {
			break
		}
		for i := range units[:n] {
			below, err := s.readOpRecord(at+int64(i), &units[i])
			if err != nil {
				unreadable, damage = unreadable+1, err
				continue
			}
			endedBelow = below
		}
		at += int64(n)
	}
	if unreadable > 0 {
		s.counts.unreadable.Add(int64(unreadable))
		s.opts.Logger.WithError(damage).WithField("records", unreadable).
			Error("records of the op topic cannot be read: producers are asked about transactions that have ended")
	}
	return endedBelow, nil
}

func (s *Service) readOpRecord(at int64, u *store.Unit) (endedBelow int64, err error) {
	slice, err := s.opts.Log.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return 0, err
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return 0, err
	}
	mark := opMark{op: at, last: -1}
	if tags, _ := message.PropertyGet(v.Properties, message.PropertyTags); string(tags) == opTag {
		readOp(v.Body, func(offset int64) {
			s.ledger.close(offset)
			mark.last = max(mark.last, offset)
		})
	}
	if checks, ok := message.PropertyGet(v.Properties, message.PropertyChecks); ok {
		readChecks(checks, func(offset int64, times int) {
			s.ledger.setAsked(offset, times)
			mark.last = max(mark.last, offset)
		})
	}
	s.progress.wrote(mark)
	if below, ok := message.PropertyGet(v.Properties, message.PropertyEndedBelow); ok {
		endedBelow, _ = strconv.ParseInt(string(below), 10, 64)
	}
	return endedBelow, nil
}

// recognise looks in the log for copies of half messages that count as open: the server was killed
// before it wrote down that they had ended. A copy lies behind its half message. Damage ends the
// search; what lies behind it may be asked for again.
func (s *Service) recognise(q *store.ConsumeQueue, from int64) error {
	first, ok := q.Unit(s.ledger.head)
	if !ok {
		return fmt.Errorf("the half topic's unit %d cannot be read", s.ledger.head)
	}
	found := 0
	err := s.opts.Log.Scan(max(from, first.CommitLogOffset), func(v *message.View) error {
		if !mayBeCopy(v) || v.PreparedTransactionOffset < first.CommitLogOffset {
			return nil
		}
		if offset, ok := s.copied(v); ok && s.ledger.isOpen(offset) {
			s.ended(offset)
			found++
		}
		return nil
	})
	log := s.opts.Logger.WithFields(logrus.Fields{"from": from, "found": found})
	if err != nil {
		log.WithError(err).Error("the log cannot be read on: transactions committed behind this place may be asked for again")
	}
	if found > 0 {
		s.opts.Difference.Use(difference.CommittedOnce)
		log.Info("transactions committed before the last stop are recognised")
	}
	return nil
}

// mayBeCopy tells whether a record may be what became of a half message. One that lay at the log's
// very beginning is named by 0, as none is.
func mayBeCopy(v *message.View) bool {
	return v.PreparedTransactionOffset > 0 ||
		v.SysFlag&message.SysFlagTransactionMask == message.SysFlagCommit || string(v.Topic) == message.TopicTransCheckMax
}

// copied is the queue offset of the half message that a record was made from.
func (s *Service) copied(v *message.View) (offset int64, ok bool) {
	slice, err := s.opts.Log.Record(v.PreparedTransactionOffset, 0)
	if err != nil {
		return 0, false
	}
	defer slice.Release()
	source, err := message.Parse(slice.Bytes)
	if err != nil || string(source.Topic) != message.TopicTransHalf {
		return 0, false
	}
	key, _ := message.PropertyGet(source.Properties, message.PropertyUniqKey)
	same, _ := message.PropertyGet(v.Properties, message.PropertyUniqKey)
	return source.QueueOffset, bytes.Equal(key, same)
}

// count counts the open half messages of each topic, and finds the shortest time after which one is
// due.
func (s *Service) count(q *store.ConsumeQueue) {
	for at := s.ledger.head; at < s.ledger.end; at = s.ledger.next(at + 1) {
		// What cannot be read is told when its time has come.
		_ = s.withHalf(q, at, func(h *half) error {
			s.Prepared(h.realTopic)
			s.opts.Admission.note(h.immunityMs)
			return nil
		})
	}
}

// withHalf shows the half message at an offset of its queue.
func (s *Service) withHalf(q *store.ConsumeQueue, offset int64, show func(h *half) error) (err error) {
	defer store.CatchFault(&err)
	u, ok := q.Unit(offset)
	if !ok {
		return fmt.Errorf("transaction: the half topic's unit %d cannot be read", offset)
	}
	slice, err := s.opts.Log.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return fmt.Errorf("transaction: half message %d: %w", offset, err)
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return fmt.Errorf("transaction: half message %d: %w", offset, err)
	}
	h, err := readHalf(&v)
	if err != nil {
		return fmt.Errorf("transaction: half message %d: %w", offset, err)
	}
	return show(&h)
}
