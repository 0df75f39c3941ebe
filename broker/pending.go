package broker

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/park"
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/message"
)

// ErrLevel is returned for a change of a message with a delay level.
var ErrLevel = errors.New("broker: a message with a delay level keeps its instant: only any-time delays can be changed")

// Pending is a message that waits for its time.
type Pending struct {
	ID              string // as long as it pends
	Due             int64  // ms of the clock that decides
	Level           int64  // delay level; 0: it waits for an instant of its own
	Wall            bool   // the wall's clock decides, not message time
	QueueOffset     int64  // of its level's queue
	CommitLogOffset int64  // bytes

	read func() (message.Record, error)
}

// Read returns the message as it will be in its topic, but for its place.
func (p *Pending) Read() (message.Record, error) {
	rec, err := p.read()
	if err != nil {
		return rec, fmt.Errorf("broker: %w", err)
	}
	return rec, nil
}

// EachPending shows the delayed messages that wait for their time and are due at an instant, ms, or
// later, in due order, until visit returns an error. One that is delivered meanwhile may be shown.
// It holds nobody up. unread is how many records it met that cannot be read: messages, or what removes
// some.
func (b *Broker) EachPending(fromMs int64, visit func(p Pending) error) (unread int64, err error) {
	return (&waiting{b.schedule, b.timer, b.opts.Log}).each(fromMs, visit)
}

// waiting are the services in which messages wait.
type waiting struct {
	schedule *schedule.Service
	timer    *timer.Service
	log      logrus.FieldLogger
}

func (w *waiting) each(fromMs int64, visit func(p Pending) error) (unread int64, err error) {
	nextLevel, stopLevels := iter.Pull(w.schedule.Pending())
	defer stopLevels()
	list := w.timer.List(fromMs)
	nextTimer, stopTimers := iter.Pull(list.All())
	defer stopTimers()
	l, levels := nextLevel()
	t, timers := nextTimer()
	for levels || timers {
		var p Pending
		if levels && (!timers || l.Due <= t.Due) {
			p = w.level(l)
			l, levels = nextLevel()
		} else {
			p = w.timed(t)
			t, timers = nextTimer()
		}
		if p.Due < fromMs {
			continue
		}
		if err := visit(p); err != nil {
			return list.Unread(), err
		}
	}
	return list.Unread(), nil
}

func (w *waiting) level(l schedule.Pending) Pending {
	return Pending{
		ID: fmt.Sprintf("l%d-%d", l.Level, l.QueueOffset), Due: l.Due, Level: l.Level, QueueOffset: l.QueueOffset,
		CommitLogOffset: l.CommitLogOffset, read: func() (message.Record, error) { return w.readLevel(l) },
	}
}

func (w *waiting) readLevel(l schedule.Pending) (message.Record, error) {
	rec, err := w.schedule.Read(l)
	if err != nil {
		w.log.WithError(err).WithField("level", l.Level).Error("a pending message cannot be read by who looks at what pends")
	}
	return rec, err
}

func (w *waiting) timed(t timer.Pending) Pending {
	return Pending{
		ID: t.ID().String(), Due: t.Due, Wall: t.Wall, CommitLogOffset: t.CommitLogOffset,
		read: func() (message.Record, error) { return w.timer.Read(t) },
	}
}

// CancelPending removes a pending message. The errors are timer's, or ErrLevel.
func (b *Broker) CancelPending(ctx context.Context, id string) error {
	t, err := timerID(id)
	if err != nil {
		return err
	}
	return b.timer.Cancel(ctx, t)
}

// FireNow makes a pending message due now.
func (b *Broker) FireNow(ctx context.Context, id string) error {
	t, err := timerID(id)
	if err != nil {
		return err
	}
	return b.timer.FireNow(ctx, t)
}

// Reschedule gives a pending message another instant, ms, and returns its ID from now on.
func (b *Broker) Reschedule(ctx context.Context, id string, atMs int64) (string, error) {
	t, err := timerID(id)
	if err != nil {
		return "", err
	}
	t, err = b.timer.Reschedule(ctx, t, atMs)
	return t.String(), err
}

// EachParked shows the messages that their targets refused, as they were parked, until visit returns
// an error. What visit is given is valid until it returns.
func (b *Broker) EachParked(from int64, visit func(p park.Parked, v *message.View) error) error {
	return b.park.Each(from, visit)
}

// Redrive stores a parked message in its target. The errors are park's.
func (b *Broker) Redrive(ctx context.Context, offset int64) error { return b.park.Redrive(ctx, offset) }

// DropParked forgets a parked message.
func (b *Broker) DropParked(offset int64) error { return b.park.Drop(offset) }

// timerID reads the ID of a message that can be changed.
func timerID(text string) (timer.ID, error) {
	if id, ok := timer.ParseID(text); ok {
		return id, nil
	}
	if rest, ok := strings.CutPrefix(text, "l"); ok {
		level, offset, _ := strings.Cut(rest, "-")
		_, err := strconv.ParseUint(level, 10, 16)
		_, err2 := strconv.ParseUint(offset, 10, 62)
		if err == nil && err2 == nil {
			return timer.ID{}, ErrLevel
		}
	}
	return timer.ID{}, fmt.Errorf("%w: %q is no ID of a pending message", timer.ErrNotPending, text)
}

// delayed is how many messages wait for their time by the topic that they are for, at levels or for instants of
// their own.
func (b *Broker) delayed() map[string]int64 {
	counts := b.schedule.PendingOf()
	for name, p := range b.timer.PendingOf() {
		counts[name] += p.Messages
	}
	return counts
}
