package rocketmq

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/wheelmq/wheelmq/store/region"
)

type (
	// Source is the store that the timer files belong to.
	Source interface {
		// TimerUnits are the bounds [min, max) of the timer topic's queue.
		TimerUnits() (min, max int64)
		// TimerUnit is where the record of one of its units lies.
		TimerUnit(queueOffset int64) (Reference, error)
		// Properties has use look at the properties of a record. An error of use is returned as it is.
		Properties(r Reference, use func(properties []byte) error) error
	}
	// Reference is a record of the timer topic: a message, or what cancels one.
	Reference struct {
		CommitLogOffset int64 // bytes
		Size            int32 // bytes
	}
)

// Pending is what waits in a store that the real broker left.
type Pending struct {
	tree   region.FS
	src    Source
	check  Checkpoint
	files  []logFile
	resume int64
	// extra are records that the order of the log does not decide about: those that the checkpoint
	// does not cover, and those that were enqueued again after a crash. They pend when no unit says
	// otherwise.
	extra []Reference
	// damage is why the timer log cannot be used, nil: it can.
	damage error
}

// Find finds what pends; false: the store has no timer checkpoint of the real broker. Nothing is
// written.
func Find(tree region.FS, src Source) (p *Pending, ok bool, err error) {
	p = &Pending{tree: tree, src: src}
	if p.check, ok, err = ReadCheckpoint(tree); err != nil || !ok {
		return nil, false, err
	}
	from, to := src.TimerUnits()
	p.resume = min(max(min(p.check.QueueOffset, p.check.MasterOffset), from), to)
	if p.files, err = logFiles(tree); errors.Is(err, errDamagedLog) {
		p.damage = err
		return p, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	if err := p.scan(); err != nil {
		return nil, false, err
	}
	return p, true, nil
}

// Resume is the first unit of the timer topic's queue that Each does not speak for: it and those
// behind were never taken out of the queue.
func (p *Pending) Resume() int64 { return p.resume }

// ReadMs is the first slot that was not read, ms.
func (p *Pending) ReadMs() int64 { return p.check.ReadMs }

// Damage is why the queue is read instead of the timer log, nil when it is not.
func (p *Pending) Damage() error { return p.damage }

// scan looks how far the log reaches, and for what it has out of order.
func (p *Pending) scan() error {
	last, again := int64(-1), []Reference(nil)
	end, err := eachUnit(p.tree, p.files, func(u unit) error {
		if u.logOffset > last {
			last = u.logOffset
		} else if u.slotMs >= p.check.ReadMs {
			again = append(again, u.reference())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if end < p.check.LogPos {
		p.damage = fmt.Errorf("%w: it ends at %d, %d bytes were durable", errDamagedLog, end, p.check.LogPos)
		return nil
	}
	// The log is ahead of the checkpoint. Between are also records that have no unit because they
	// were due already: nobody knows whether they were delivered.
	_, to := p.src.TimerUnits()
	for ; p.resume < to; p.resume++ {
		r, err := p.src.TimerUnit(p.resume)
		if err != nil {
			return fmt.Errorf("rocketmq: unit %d of the timer queue: %w", p.resume, err)
		}
		if r.CommitLogOffset > last {
			break
		}
		again = append(again, r)
	}
	slices.SortFunc(again, func(a, b Reference) int { return cmp.Compare(a.CommitLogOffset, b.CommitLogOffset) })
	p.extra = slices.Compact(again)
	return nil
}

func (u *unit) reference() Reference { return Reference{u.logOffset, u.recordSize} }

// Each visits every record before Resume that pends, once, in the order of the timer log.
func (p *Pending) Each(visit func(Reference) error) error {
	if p.damage != nil {
		return p.eachInQueue(visit)
	}
	last, has := int64(-1), make([]bool, len(p.extra))
	_, err := eachUnit(p.tree, p.files, func(u unit) error {
		if u.logOffset <= last {
			return nil
		}
		last = u.logOffset
		if i, found := slices.BinarySearchFunc(p.extra, last, func(r Reference, at int64) int {
			return cmp.Compare(r.CommitLogOffset, at)
		}); found {
			has[i] = true
		}
		if u.slotMs < p.check.ReadMs {
			return nil
		}
		return visit(u.reference())
	})
	for i, r := range p.extra {
		if err == nil && !has[i] {
			err = visit(r)
		}
	}
	return err
}
