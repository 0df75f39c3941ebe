package timer_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"sort"

	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer"
)

func (w *world) takeState() error {
	if w.taken != nil {
		return nil
	}
	s, err := w.tl.State()
	if errors.Is(err, region.ErrNoSpace) {
		return nil
	}
	if err != nil {
		return err
	}
	w.taken, w.synced = s, false
	w.snaps = append(w.snaps, w.model.clone())
	return nil
}

func (w *world) syncState() error {
	if w.taken == nil {
		return nil
	}
	w.synced = true
	if w.plant == "no sync" {
		return nil
	}
	return w.tl.Sync()
}

func (w *world) saveState() error {
	if w.taken == nil || !w.synced && w.plant != "saved before synced" {
		return nil
	}
	if w.plant == "files go before the checkpoint" {
		w.tl.Saved(w.taken)
	}
	b, err := w.taken.AppendBinary(binary.BigEndian.AppendUint64(nil, uint64(len(w.snaps)-1)))
	if err != nil {
		return err
	}
	if err := w.disk.WriteFile(checkpointFile, b); err != nil {
		return err
	}
	w.tl.Saved(w.taken)
	w.taken, w.torn = nil, false
	return w.failed
}

func (w *world) checkpoint() error {
	w.disk.SetLimit(0)
	return errors.Join(w.takeState(), w.syncState(), w.saveState())
}

func (w *world) fullDisk() error {
	w.disk.SetLimit(int64(w.pick(2)))
	return nil
}

// recovered opens the Timeline of a disk as its checkpoint says. Of the log what was there at the
// checkpoint survived.
func (w *world) recovered(disk *region.Memory) (*timer.Timeline, model, error) {
	b, err := disk.ReadFile(checkpointFile)
	if err != nil {
		return nil, model{}, fmt.Errorf("%w: %w", errNoCheckpoint, err)
	}
	m := w.snaps[binary.BigEndian.Uint64(b)].clone()
	var s timer.State
	if err := s.Decode(b[8:]); err != nil {
		return nil, model{}, err
	}
	tl, err := timer.Open(options(disk), &s, m.logEnd)
	if err != nil {
		return nil, model{}, err
	}
	return tl, m, w.checkAll(tl, &m)
}

// errNoCheckpoint: there is none while everything is added again.
var errNoCheckpoint = errors.New("no checkpoint")

// before is how many records lie before an offset of the log.
func (w *world) before(logOffset int64) int {
	return sort.Search(len(w.log), func(i int) bool { return w.log[i].LogOffset >= logOffset })
}

// cutPower goes on with what a power cut has left.
func (w *world) cutPower() error {
	now := w.now
	w.disk = w.disk.PowerCut(w.rng)
	w.jobs, w.taken = nil, nil
	tl, m, err := w.recovered(w.disk)
	if err != nil {
		return fmt.Errorf("after a power cut: %w", err)
	}
	w.disk.OnSync(w.syncPoint)
	w.tl, w.model = tl, m
	at := w.before(m.logEnd)
	w.torn = w.torn || at < len(w.log)
	w.log = w.log[:at]
	w.now = now
	w.prepare()
	return nil
}

// rebuild goes on after a power cut that took the checkpoint: everything in the log is added again.
func (w *world) rebuild() error {
	// What the log has lost may be in files of far entries until a checkpoint has cut them.
	if w.pick(3) != 0 || w.torn {
		return nil
	}
	now := w.now
	w.disk = w.disk.PowerCut(w.rng)
	if err := errors.Join(w.disk.Remove(checkpointFile), w.disk.SyncDir(path.Dir(checkpointFile))); err != nil {
		return err
	}
	w.jobs, w.taken = nil, nil
	w.model = model{slots: make(map[int64][]kept), now: now}
	if n := len(w.log); n > 0 {
		w.logEnd = w.log[n-1].LogOffset + int64(w.log[n-1].Size)
	}
	var err error
	if w.tl, err = timer.Open(options(w.disk), nil, w.logEnd); err != nil {
		return fmt.Errorf("without a checkpoint: %w", err)
	}
	w.prepare()
	for _, r := range w.log {
		if err := w.tl.Add(r.Entry, r.slot, recordOf(r.LogOffset, r.Size)); err != nil {
			return fmt.Errorf("add again: %w", err)
		}
		w.slots[r.slot] = append(w.slots[r.slot], kept{Entry: r.Entry, near: r.slot < w.nearEnd, rebuilt: true})
	}
	w.rebuilt = true
	if err := w.checkAll(w.tl, &w.model); err != nil {
		return fmt.Errorf("rebuilt: %w", err)
	}
	w.disk.OnSync(w.syncPoint)
	w.rebuilding = true
	defer func() { w.rebuilding = false }()
	return w.checkpoint()
}

// syncPoint looks what a power cut would leave just now.
func (w *world) syncPoint() {
	if w.failed != nil || len(w.snaps) < 2 || w.rng.IntN(4) != 0 {
		return
	}
	if w.rng.IntN(3) == 0 {
		w.disk.WriteBack(w.rng)
	}
	tl, _, err := w.recovered(w.disk.PowerCut(w.rng))
	if w.rebuilding && errors.Is(err, timer.ErrDamaged) {
		return // a checkpoint that is not good any more, and its files are gone
	}
	if errors.Is(err, errNoCheckpoint) {
		return
	}
	if err != nil {
		w.failed = fmt.Errorf("after a power cut at a sync: %w", err)
		return
	}
	w.failed = tl.Close()
}
