package park

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// Errors of what an operator asks for.
var (
	// ErrNotParked: there is no such message, or it was driven again or dropped.
	ErrNotParked = errors.New("park: no such message is parked")
	// ErrNote: the message itself was too large to be parked.
	ErrNote = errors.New("park: only a note about the message is parked: raise maxMessageSize and send it again")
	// ErrUnread: the disk fails to read the message now, or the log is damaged where it lies.
	ErrUnread = errors.New("park: the parked message cannot be read")
	// ErrRefused: its target still refuses it.
	ErrRefused = errors.New("park: the target refuses the message")
)

// Records is what of the store holds the parked messages.
type Records interface {
	Queue(topic []byte, queueID int32) *store.ConsumeQueue
	Record(commitLogOffset int64, size int32) (store.Slice, error)
	// Flush makes durable what is readable.
	Flush() error
}

// Parked is a message that its target refused for good.
type Parked struct {
	QueueOffset int64 // in the parked topic; it names the message
	Topic       string
	QueueID     int32
	Service     string // that wanted to deliver it: schedule or timer
	Reason      string
}

// tableFile has which parked messages are done with.
const tableFile = "wheelmqParked.json"

// handled are the parked messages that were driven again or dropped: the log keeps them for as long
// as it keeps anything.
type handled struct {
	// Offsets of them in the parked topic's queue, ascending.
	Offsets []int64 `json:"handled"`
	// Carrying is from which offset on copies may be of messages that are not among them, 0: there
	// are none.
	Carrying int64 `json:"carrying,omitempty"`
}

func (h *handled) has(offset int64) bool {
	_, found := slices.BinarySearch(h.Offsets, offset)
	return found
}

// add takes offsets in, and forgets those below the queue's first.
func (h *handled) add(offsets []int64, lowest int64) {
	h.Offsets = append(h.Offsets, offsets...)
	slices.Sort(h.Offsets)
	h.Offsets = slices.DeleteFunc(slices.Compact(h.Offsets), func(o int64) bool { return o < lowest })
}

// load reads the table. Without one everything counts as parked.
func (s *Service) load(dir persist.Dir) {
	if dir == nil {
		return
	}
	if err := dir.Load(tableFile, &s.handled); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.opts.Log.WithError(err).Error("which parked messages were driven again or dropped is not known any more")
	}
	slices.Sort(s.handled.Offsets)
	if q := s.queue(); q != nil {
		// A power cut may have taken what was parked last: what gets its offset is another message.
		end := q.Max()
		s.handled.Offsets = slices.DeleteFunc(s.handled.Offsets, func(o int64) bool { return o >= end })
	}
	s.finishCarry()
}

// Count is how many messages are parked and not done with.
func (s *Service) Count() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.opts.Pending()
	if q := s.queue(); q != nil {
		for _, offset := range s.handled.Offsets {
			if offset >= q.Min() && offset < q.Max() {
				n--
			}
		}
	}
	return max(0, n)
}

func (s *Service) queue() *store.ConsumeQueue {
	if s.opts.Records == nil {
		return nil
	}
	return s.opts.Records.Queue([]byte(message.TopicParked), 0)
}

// Each shows the parked messages from an offset on, as they were parked, until visit returns an
// error. What visit is given is valid until it returns. One that cannot be read is shown empty, with the
// reason.
func (s *Service) Each(from int64, visit func(p Parked, v *message.View) error) error {
	q := s.queue()
	if q == nil {
		return nil
	}
	for at := max(from, q.Min()); at < q.Max(); at++ {
		s.mu.Lock()
		done := s.handled.has(at)
		s.mu.Unlock()
		if done {
			continue
		}
		err := s.read(q, at, visit)
		if errors.Is(err, ErrUnread) {
			err = visit(Parked{QueueOffset: at, Reason: err.Error()}, &message.View{})
		}
		if err != nil && !errors.Is(err, ErrNotParked) {
			return err
		}
	}
	return nil
}

// faultError is an ErrUnread of a disk that fails: the message may be read another time.
type faultError struct{ cause error }

// Error implements error.
func (e *faultError) Error() string { return e.cause.Error() }

// Unwrap returns ErrUnread and the cause.
func (e *faultError) Unwrap() []error { return []error{ErrUnread, e.cause} }

// read shows a parked message. The error wraps ErrNotParked, or ErrUnread.
func (s *Service) read(q *store.ConsumeQueue, at int64, visit func(p Parked, v *message.View) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &faultError{fmt.Errorf("park: parked message %d: %w", at, store.FaultOf(p))}
		}
	}()
	u, ok := q.Unit(at)
	if !ok {
		return ErrNotParked
	}
	slice, err := s.opts.Records.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return fmt.Errorf("%w: message %d: %w", ErrUnread, at, err)
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return fmt.Errorf("%w: message %d: %w", ErrUnread, at, err)
	}
	return visit(parkedOf(&v, at), &v)
}

func parkedOf(v *message.View, at int64) Parked {
	text := func(name string) string {
		value, _ := message.PropertyGet(v.Properties, name)
		return string(value)
	}
	p := Parked{QueueOffset: at, Topic: text(PropertyTopic), Service: text(PropertyService), Reason: text(PropertyReason)}
	if p.Topic == "" {
		// There was no room for the note about it, only for its own properties.
		p.Topic = text(message.PropertyRealTopic)
		p.QueueID = number(text(message.PropertyRealQueueID))
		return p
	}
	p.QueueID = number(text(PropertyQueueID))
	return p
}

func number(text string) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}

// Drop forgets a parked message for good, also one that cannot be read.
func (s *Service) Drop(offset int64) error {
	return s.handle(offset, "dropped", nil)
}

// Redrive stores a parked message in its target and forgets it; it stays parked when the target
// refuses it again. A crash between the two leaves it in both.
func (s *Service) Redrive(ctx context.Context, offset int64) error {
	return s.handle(offset, "driven again", func(p Parked, v *message.View) error { return s.deliver(ctx, p, v) })
}

// handle does something with a parked message, nil: nothing, and then notes that it is done with.
func (s *Service) handle(offset int64, what string, do func(p Parked, v *message.View) error) error {
	s.handling.Lock()
	defer s.handling.Unlock()
	q := s.queue()
	s.mu.Lock()
	done := s.handled.has(offset)
	s.mu.Unlock()
	if q == nil || done {
		return ErrNotParked
	}
	var parked Parked
	if err := s.read(q, offset, func(p Parked, v *message.View) error {
		if parked = p; do == nil {
			return nil
		}
		return do(p, v)
	}); err != nil && (do != nil || !errors.Is(err, ErrUnread)) {
		return err
	}
	s.addHandled([]int64{offset}, q.Min())
	s.opts.Log.WithFields(logrus.Fields{"topic": parked.Topic, "queueId": parked.QueueID, "offset": offset}).Info("a parked message is " + what)
	if err := s.save(s.carrying()); err != nil {
		return fmt.Errorf("the message is %s, but after a restart it is parked again: %w", what, err)
	}
	return nil
}

// deliver stores a parked message in its target and waits until that is durable.
func (s *Service) deliver(ctx context.Context, p Parked, v *message.View) error {
	if string(v.Body) == noteBody {
		return ErrNote
	}
	queue, exists := p.QueueID, true
	if s.opts.QueueFor != nil {
		queue, exists = s.opts.QueueFor(p.Topic, p.QueueID)
	}
	if !exists {
		return fmt.Errorf("%w: topic %q does not exist", ErrRefused, p.Topic)
	}
	rec := v.RecordFor(p.Topic, queue, message.PropertyCopyWithout(nil, v.Properties, func(name []byte) bool {
		switch string(name) {
		case PropertyReason, PropertyService, PropertyTopic, PropertyQueueID, PropertyCarried:
			return true
		}
		return false
	}))
	rec.Body = slices.Clone(v.Body)
	done := make(stored, 1)
	_, pending, err := s.opts.Appender.Put(&rec, appender.FromScheduler, done)
	if pending {
		select {
		case res := <-done:
			err = appender.Refusal(res)
		case <-ctx.Done():
			return fmt.Errorf("park: whether the message is durable is not known: %w", ctx.Err())
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if err := s.opts.Records.Flush(); err != nil {
		return fmt.Errorf("park: %w", err)
	}
	return nil
}

// stored is told of a put.
type stored chan store.PutResult

// PutDone implements store.Completion.
func (d stored) PutDone(res store.PutResult) { d <- res }
