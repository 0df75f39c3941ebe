package park

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// PropertyCarried names the queue offset of the parked message that this one has taken the place of.
const PropertyCarried = "PARK_CARRIED"

// Carry parks anew what is parked below a log offset, where the log is about to be deleted: they get
// the next offsets of the queue, and with them new names. It does not when they take more than room
// bytes: a log of nothing else would be copied for ever.
//
// The table first says from which offset on copies come, and names the messages as done with when all
// copies are durable. A start in between looks for the copies. It ends early when stop is closed; those
// before one that the store refuses are done with.
func (s *Service) Carry(below, room int64, stop <-chan struct{}) error {
	s.handling.Lock()
	defer s.handling.Unlock()
	q := s.queue()
	if q == nil {
		return nil
	}
	offsets, size := s.below(q, below)
	switch {
	case len(offsets) == 0:
		return nil
	case size > room:
		return fmt.Errorf("park: %d bytes of parked messages lie there, which are too many to be stored anew: drive them again or drop them", size)
	}
	if err := s.save(s.copiesFrom(q)); err != nil {
		return err
	}
	n, err := s.carryAll(q, offsets, stop)
	if n == 0 {
		return err
	}
	s.addHandled(offsets[:n], q.Min())
	s.opts.Log.WithField("messages", n).Info("parked messages are stored anew: the log file that they lie in is deleted")
	return errors.Join(err, s.save(0))
}

// copiesFrom is from which offset on copies may be: those of a Carry that failed are not known.
func (s *Service) copiesFrom(q *store.ConsumeQueue) int64 {
	if from := s.carrying(); from > 0 {
		return from
	}
	return q.Max()
}

func (s *Service) carrying() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.handled.Carrying
}

// below are the messages that lie below a log offset and are not done with, and their size in bytes.
func (s *Service) below(q *store.ConsumeQueue, logOffset int64) (offsets []int64, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := q.Min(); at < q.Max(); at++ {
		u, ok := q.Unit(at)
		if ok && u.CommitLogOffset >= logOffset {
			break
		}
		if ok && !s.handled.has(at) {
			offsets, size = append(offsets, at), size+int64(u.Size)
		}
	}
	return offsets, size
}

var errStopping = errors.New("park: the store is being closed")

// carryAll parks messages anew up to one that is refused, and returns of how many the copies are durable.
func (s *Service) carryAll(q *store.ConsumeQueue, offsets []int64, stop <-chan struct{}) (n int, refused error) {
	done := make(stored, len(offsets))
	waiting := 0
	for ; n < len(offsets); n++ {
		var pending bool
		if pending, refused = s.carry(q, offsets[n], done); refused != nil {
			break
		}
		if pending {
			waiting++
		}
	}
	if n == 0 {
		return 0, refused
	}
	if err := s.durable(done, waiting, stop); err != nil {
		return 0, errors.Join(refused, err)
	}
	return n, refused
}

// durable returns when copies are, for so many of which done is told.
func (s *Service) durable(done stored, waiting int, stop <-chan struct{}) error {
	for range waiting {
		select {
		case res := <-done:
			if err := appender.Refusal(res); err != nil {
				return fmt.Errorf("park: %w", err)
			}
		case <-stop:
			return errStopping
		}
	}
	if err := s.opts.Records.Flush(); err != nil {
		return fmt.Errorf("park: %w", err)
	}
	return nil
}

// carry parks one message anew; done is told when pending is true. One that the disk fails to read now
// keeps its log file; one in whose place no message lies is lost, and keeps nobody from being carried.
func (s *Service) carry(q *store.ConsumeQueue, at int64, done stored) (pending bool, refused error) {
	err := s.read(q, at, func(_ Parked, v *message.View) error {
		pending, refused = s.putCarried(v, at, done)
		return nil
	})
	var fault *faultError
	if errors.As(err, &fault) {
		return false, fmt.Errorf("%w: wheelmq parked drop %d gives it up", err, at)
	}
	if err != nil {
		s.opts.Log.WithError(err).WithField("offset", at).Error("a parked message cannot be read and is lost")
	}
	return pending, refused
}

func (s *Service) putCarried(v *message.View, at int64, done stored) (pending bool, err error) {
	props := message.PropertyCopyWithout(nil, v.Properties, func(name []byte) bool { return string(name) == PropertyCarried })
	if marked := message.PropertyAppend(slices.Clone(props), PropertyCarried, strconv.FormatInt(at, 10)); len(marked) <= message.MaxPropertiesLength {
		props = marked
	}
	rec := v.RecordFor(message.TopicParked, 0, props)
	rec.Body = slices.Clone(v.Body)
	_, pending, err = s.opts.Appender.Put(&rec, appender.FromScheduler, done)
	if err != nil {
		return false, fmt.Errorf("park: a parked message cannot be stored anew: %w", err)
	}
	return pending, nil
}

// finishCarry is what a start makes of a Carry that did not end: the copies that exist take the
// places of their messages.
func (s *Service) finishCarry() {
	q := s.queue()
	if s.handled.Carrying == 0 || q == nil {
		return
	}
	var carried []int64
	for at := max(s.handled.Carrying, q.Min()); at < q.Max(); at++ {
		err := s.read(q, at, func(_ Parked, v *message.View) error {
			if text, ok := message.PropertyGet(v.Properties, PropertyCarried); ok {
				if from, err := strconv.ParseInt(string(text), 10, 64); err == nil && from < at {
					carried = append(carried, from)
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, ErrNotParked) {
			s.opts.Log.WithError(err).Error("a parked message cannot be read")
		}
	}
	s.addHandled(carried, q.Min())
	if err := s.save(0); err != nil {
		s.opts.Log.WithError(err).Error("which parked messages are done with cannot be saved")
	}
}

// addHandled notes that messages are done with.
func (s *Service) addHandled(offsets []int64, lowest int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handled.add(offsets, lowest)
}

// save writes the table. carrying is from which offset on copies may be, 0: there are none.
func (s *Service) save(carrying int64) error {
	s.mu.Lock()
	s.handled.Carrying = carrying
	table := handled{Offsets: slices.Clone(s.handled.Offsets), Carrying: carrying}
	s.mu.Unlock()
	if s.opts.Table == nil {
		return nil
	}
	if err := s.opts.Table.Save(tableFile, &table); err != nil {
		return fmt.Errorf("park: %w", err)
	}
	return nil
}
