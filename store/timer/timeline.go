package timer

import (
	"errors"
	"fmt"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/store/region"
)

// Errors of a Timeline.
var (
	// ErrNotReady: the second's hour is not sorted yet; see Timeline.Prepare.
	ErrNotReady = errors.New("timer: the hour is not sorted yet")
	// ErrDamaged is wrapped where files do not hold what was written: entries are missing.
	ErrDamaged = errors.New("timer: damaged")
	// ErrDone: a second below the hand takes no entries.
	ErrDone = errors.New("timer: the second is done")
	// ErrPending: seconds that may have entries were to be passed over.
	ErrPending = errors.New("timer: an earlier second is not done")
	// ErrInvalid: an entry that cannot be kept in its slot, or without the record it needs.
	ErrInvalid = errors.New("timer: invalid entry")
	errNoFar   = errors.New("timer: there is no far part")
)

const secondsPerHour = 3600

// Options say where a Timeline lives.
type Options struct {
	FS        region.FS
	Dir       string // its own, below FS: "timer/delay"
	Log       logrus.FieldLogger
	ChunkSize int // of the files of the TimerLog, bytes; 0: 4 MiB
}

// Timeline keeps entries by second. One goroutine owns it; only Sync and Jobs run elsewhere.
//
// Its owner calls Prepare first, and at least once an hour: before, everything is far.
type Timeline struct {
	opts    Options
	hand    int64 // first second that is not done
	nearEnd int64 // first second that is far, a whole hour
	near    *near
	far     farPart // nil: there is none
	again   bool    // opened without saved state: the far part may have what is added
}

// Stats describe what a Timeline holds.
type Stats struct {
	Near, Far int64 // entries, cancels with them; of an hour that could not be sorted all, until it is past
	NearBytes int64 // of files with near entries
	FarBytes  int64 // of files with far entries
	Files     int   // of both
	Damaged   int64 // entries and records that were found damaged, since Open
}

// Pending is the number of all entries.
func (s *Stats) Pending() int64 { return s.Near + s.Far }

// Open recovers a Timeline. Everything is cut to what saved names, and entries whose record
// lies at logEnd, the end of the CommitLog, or behind are cut. Without saved (nil) near entries
// are thrown away, far ones are found by a scan, and the hand is at 0: the owner adds everything
// again, and what the far part has is not taken twice. The error wraps ErrDamaged when files do
// not hold what saved names: the owner opens without it.
func Open(opts Options, saved *State, logEnd int64) (*Timeline, error) {
	if opts.ChunkSize == 0 {
		opts.ChunkSize = defaultChunkSize
	}
	if opts.ChunkSize < maxBlock {
		return nil, fmt.Errorf("timer: files of %d bytes hold no block", opts.ChunkSize)
	}
	t := &Timeline{opts: opts, again: saved == nil}
	var far []byte
	if saved != nil {
		t.hand, t.nearEnd, far = saved.Hand, saved.NearEnd, saved.Far
	}
	var err error
	if t.near, err = openNear(opts, saved, logEnd); err != nil {
		return nil, fmt.Errorf("timer: open %s: %w", opts.Dir, err)
	}
	if t.far, err = openFar(opts, far, logEnd); err != nil {
		return nil, errors.Join(fmt.Errorf("timer: open %s: %w", opts.Dir, err), t.near.close())
	}
	return t, nil
}

// Add keeps an entry in a slot, the second it is read with: normally Due/1000, never below the
// hand. A message's Due lies at most 32 s behind the begin of its slot; one that lies further
// before it comes back moved to 32 s before. record is its stored bytes, copied if the slot is
// far. After an error nothing has changed; it wraps region.ErrNoSpace when the disk is full.
func (t *Timeline) Add(e Entry, slot int64, record []byte) error {
	if slot < t.hand {
		return fmt.Errorf("%w: %d, the hand is at %d", ErrDone, slot, t.hand)
	}
	if !e.fits(slot) || slot > maxSecond {
		return fmt.Errorf("%w: %+v in second %d", ErrInvalid, e, slot)
	}
	if t.again && t.far != nil && t.far.has(slot, e.LogOffset) {
		return nil
	}
	if slot < t.nearEnd {
		return t.near.add(e, slot)
	}
	if t.far == nil {
		return fmt.Errorf("%w for second %d", errNoFar, slot)
	}
	if len(record) == 0 {
		return fmt.Errorf("%w: no record for far second %d", ErrInvalid, slot)
	}
	return t.far.add(e, slot, record)
}

// Leave has what comes for a slot go to another file than the last: that one cannot be written.
func (t *Timeline) Leave(slot int64) {
	if slot >= t.nearEnd && t.far != nil {
		t.far.leave(slot)
		return
	}
	t.near.log.leave()
}

// Hand is the first second that is not done.
func (t *Timeline) Hand() int64 { return t.hand }

// NearEnd is the first second, a whole hour, whose arrivals are far.
func (t *Timeline) NearEnd() int64 { return t.nearEnd }

// Done lets a second go: every entry of it is delivered or gone. It is the hand, or lies behind
// and nothing is pending between. The hand moves to the next second, at most to NearEnd.
func (t *Timeline) Done(second int64) error {
	if second < t.hand {
		return fmt.Errorf("%w: %d, the hand is at %d", ErrDone, second, t.hand)
	}
	if second >= t.nearEnd {
		return fmt.Errorf("%w: second %d is far", ErrNotReady, second)
	}
	if first, ok := t.Next(); ok && first < second {
		return fmt.Errorf("%w: %d is to be done, %d is pending", ErrPending, second, first)
	}
	t.near.done(second)
	if t.far != nil {
		t.far.done(second)
	}
	t.hand = second + 1
	return nil
}

// Back moves the hand back to a second, because the time of the Timeline was set back. What was
// done stays done. A second at or behind the hand changes nothing.
func (t *Timeline) Back(second int64) { t.hand = min(t.hand, max(second, 0)) }

// Next is the first second from the hand on that may have entries, and false when nothing is
// pending. For a far one that is not sorted it is the earliest it may be.
func (t *Timeline) Next() (second int64, ok bool) { return t.NextFrom(t.hand) }

// NextFrom is the same from a second on, which is not below the hand.
func (t *Timeline) NextFrom(from int64) (second int64, ok bool) {
	second, ok = t.near.next(from)
	if t.far == nil {
		return second, ok
	}
	if far, has := t.far.next(from); has && (!ok || far < second) {
		return far, true
	}
	return second, ok
}

// FirstDue is the exact instant, ms, of the pending message that is due first, and false when no
// message is pending: cancels do not count. It reads near seconds, and no far ones. Of an hour that could
// not be sorted, it may be one that is done.
func (t *Timeline) FirstDue() (ms int64, ok bool, err error) {
	limit := t.nearEnd
	if t.far != nil {
		var second int64
		if ms, second, ok = t.far.firstDue(); ok {
			limit = min(limit, second+1)
		}
	}
	for second, has := t.near.next(t.hand); has && second < limit; second, has = t.near.next(second + 1) {
		first, found, err := t.near.firstDue(second)
		if err != nil {
			return 0, false, err
		}
		if found {
			if !ok || first < ms {
				ms, ok = first, true
			}
			break
		}
	}
	return ms, ok, nil
}

// Count is how many entries a second has: exact for near ones.
func (t *Timeline) Count(second int64) int64 {
	n := t.near.count(second)
	if t.far != nil {
		n += t.far.count(second)
	}
	return n
}

// Prepare moves NearEnd to between one and two hours ahead of now, ms, or of the hand when that
// is ahead of it, never back. It returns what must be split or sorted because of it.
func (t *Timeline) Prepare(now int64) []Job {
	hour := max(now/1000, t.hand)/secondsPerHour + 2
	t.nearEnd = max(t.nearEnd, hour*secondsPerHour)
	if t.far == nil {
		return nil
	}
	return t.far.prepare(t.nearEnd, now)
}

// Finish takes in the result of a job that ran, or gives up one whose Run failed: it comes again
// with a later Prepare.
func (t *Timeline) Finish(job Job) error {
	if t.far == nil {
		return nil
	}
	return t.far.finish(job)
}

// OldestReference is the log offset of the first record of the CommitLog that near entries name,
// and false when there is none. Far ones need none.
func (t *Timeline) OldestReference() (logOffset int64, ok bool) { return t.near.oldest() }

// Stats are for metrics.
func (t *Timeline) Stats() Stats {
	s := t.near.stats()
	if t.far != nil {
		t.far.stats(&s)
	}
	return s
}

// State writes what is not in files yet and returns what a checkpoint may name once Sync has
// returned. After an error, of a full disk, it may be called again.
func (t *Timeline) State() (*State, error) {
	s := &State{Hand: t.hand, NearEnd: t.nearEnd}
	if err := t.near.state(s); err != nil {
		return nil, err
	}
	if t.far != nil {
		var err error
		if s.Far, err = t.far.state(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Sync makes everything durable that the last State named. It may run on another goroutine
// beside everything but State, Saved and Close.
func (t *Timeline) Sync() error {
	if err := t.near.sync(); err != nil {
		return err
	}
	if t.far == nil {
		return nil
	}
	return t.far.sync()
}

// Saved tells that a checkpoint with this state is durable: files that it does not name go. One
// that cannot be deleted is left for the next Open.
func (t *Timeline) Saved(s *State) {
	err := t.near.saved(s)
	if t.far != nil {
		err = errors.Join(err, t.far.saved(s.Far))
	}
	if err != nil {
		t.opts.Log.WithError(err).WithField("dir", t.opts.Dir).Warn("files of done timers cannot be deleted")
	}
}

// Close lets go of the files. What was not saved by a State is lost.
func (t *Timeline) Close() error {
	err := t.near.close()
	if t.far != nil {
		err = errors.Join(err, t.far.close())
	}
	return err
}
