package timer

import (
	"errors"
	"fmt"
	"math"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// The lines, and the directories of their Timelines.
const (
	delayLine    = 0
	absoluteLine = 1
)

var lineNames = [2]string{delayLine: "delay", absoluteLine: "absolute"}

// lines are the two of a service.
type lines [2]*line

// of is the line of an instant. A virtual clock has no wall of its own.
func (ls *lines) of(due message.Due) *line {
	if due.Wall {
		return ls[absoluteLine]
	}
	return ls[delayLine]
}

// open opens the Timelines in directories below that of opts, as a checkpoint has saved them; saved are
// nil without one. logEnd is the end of the log. When files do not have messages that the checkpoint
// names, lost is how many, and the error wraps wheel.ErrDamaged: the log may have them.
func (ls *lines) open(opts wheel.Options, saved [2]*wheel.State, logEnd int64, store clock.Clock) (lost int64, err error) {
	under := opts.Dir
	for i, name := range lineNames {
		opts.Dir = under + "/" + name
		t, err := wheel.Open(opts, saved[i], logEnd)
		if err != nil {
			return 0, errors.Join(fmt.Errorf("timer: %w", err), shut(ls[:i]))
		}
		if stats := t.Stats(); saved[i] != nil {
			lost += stats.Damaged
		}
		ls[i] = &line{name: name, clock: store, wall: i == absoluteLine, t: t, loadedTo: -1, preparedAt: -1, farAt: -1, doneBefore: t.Hand()}
	}
	if lost == 0 {
		return 0, nil
	}
	return lost, errors.Join(fmt.Errorf("timer: %w: %d messages are missing", wheel.ErrDamaged, lost), shut(ls[:]))
}

// shut closes lines of which nothing is loaded.
func shut(list []*line) (err error) {
	for _, l := range list {
		err = errors.Join(err, l.t.Close())
	}
	return err
}

// close lets go of what is loaded, and closes the Timelines.
func (ls *lines) close() (failed error) {
	for _, l := range ls {
		if l == nil {
			continue
		}
		for _, sec := range l.loaded {
			sec.close()
		}
		l.loaded = nil
		l.giveUp()
		if err := l.t.Close(); err != nil {
			failed = errors.Join(failed, fmt.Errorf("timer: close %s: %w", l.name, err))
		}
	}
	return failed
}

// each visits everything that is kept of a line from a second on, stretch after stretch, until visit
// returns an error, and tells at the end what cannot be read.
func (l *line) each(from int64, visit func(number int64, item *wheel.Item) error) error {
	var damage error
	for b := l.t.Browse(from, math.MaxInt64); b != nil; b = l.t.Browse(from, math.MaxInt64) {
		var failed error
		for number, item, ok := b.Next(); ok && failed == nil; number, item, ok = b.Next() {
			failed = visit(number, &item)
		}
		from, damage = b.To, errors.Join(damage, b.Err())
		if b.Close(); failed != nil {
			return failed
		}
	}
	return damage
}
