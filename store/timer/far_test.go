package timer_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"

	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer"
)

const checkpoint = "timer/checkpoint"

// logged is a record of a CommitLog that never loses one.
type logged struct {
	timer.Entry
	slot   int64
	record []byte
	far    bool // its record is copied: the log need not have it once that is saved
	gone   bool // the log does not have it any more
}

// driver does with a Timeline what the broker does: it takes records of a log in order, delivers
// what is due, and saves checkpoints.
type driver struct {
	fs       region.FS
	log      *[]logged
	chunk    int
	tl       *timer.Timeline
	taken    int // records of the log
	now      int64
	given    map[int64]int // how often a log offset was delivered since the open
	done     map[int64]bool
	tolerant bool // of damage
}

func newDriver(fs region.FS, log *[]logged, chunk int) *driver {
	return &driver{fs: fs, log: log, chunk: chunk, given: make(map[int64]int), done: make(map[int64]bool)}
}

// open recovers from the checkpoint, or without when there is none.
func (d *driver) open(logEnd int64) error {
	opts := options(d.fs)
	opts.ChunkSize = d.chunk
	var saved *timer.State
	b, err := d.fs.ReadFile(checkpoint)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d.taken = 0
	if err == nil {
		saved = &timer.State{}
		if err := saved.Decode(b[16:]); err != nil {
			return err
		}
		d.taken, d.now = int(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[8:]))
	}
	if d.tl, err = timer.Open(opts, saved, logEnd); err != nil {
		return err
	}
	return d.jobs()
}

// take adds the records of the log that were not taken.
func (d *driver) take() error {
	for ; d.taken < len(*d.log); d.taken++ {
		l := &(*d.log)[d.taken]
		if l.gone {
			continue
		}
		l.far = l.slot >= d.tl.NearEnd()
		if err := d.tl.Add(l.Entry, max(l.slot, d.tl.Hand()), l.record); err != nil {
			return err
		}
	}
	return nil
}

// jobs runs everything there is to do.
func (d *driver) jobs() error {
	for jobs := d.tl.Prepare(d.now * 1000); len(jobs) > 0; jobs = d.tl.Prepare(d.now * 1000) {
		for _, job := range jobs {
			err := job.Run()
			if err := d.tl.Finish(job); err != nil {
				return err
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// deliver moves the time on and gives out all that is due.
func (d *driver) deliver(now int64) error {
	d.now = max(d.now, now)
	for {
		if err := d.jobs(); err != nil {
			return err
		}
		second, ok := d.tl.Next()
		if !ok || second > d.now {
			return nil
		}
		if err := d.second(second); err != nil {
			return fmt.Errorf("second %d: %w", second, err)
		}
		if err := d.tl.Done(second); err != nil {
			return err
		}
	}
}

func (d *driver) second(second int64) error {
	r, err := d.tl.Read(second)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		item, ok := r.Next()
		if !ok {
			if err := r.Err(); !d.tolerant || !errors.Is(err, timer.ErrDamaged) {
				return err
			}
			return nil
		}
		i, found := slices.BinarySearchFunc(*d.log, item.LogOffset, func(l logged, at int64) int { return int(l.LogOffset - at) })
		if !found {
			return fmt.Errorf("no record is at %d", item.LogOffset)
		}
		l := &(*d.log)[i]
		if item.Record != nil && (!bytes.Equal(item.Record, l.record) || item.Entry != l.Entry) {
			return fmt.Errorf("%+v was added, %+v came back", l.Entry, item.Entry)
		}
		if l.slot > second {
			return fmt.Errorf("record of second %d came in %d", l.slot, second)
		}
		d.given[item.LogOffset]++
		d.done[item.LogOffset] = true
	}
}

// save writes a checkpoint.
func (d *driver) save() error {
	s, err := d.tl.State()
	if err != nil {
		return err
	}
	if err := d.tl.Sync(); err != nil {
		return err
	}
	b := binary.BigEndian.AppendUint64(nil, uint64(d.taken))
	b = binary.BigEndian.AppendUint64(b, uint64(d.now))
	if b, err = s.AppendBinary(b); err != nil {
		return err
	}
	if err := d.fs.WriteFile(checkpoint, b); err != nil {
		return err
	}
	d.tl.Saved(s)
	return d.jobs()
}

// expire takes from the log what a checkpoint does not need of it.
func (d *driver) expire() {
	for i := range (*d.log)[:d.taken] {
		(*d.log)[i].gone = (*d.log)[i].far
	}
}

// complete checks that each record of the log was delivered: exactly once since the open unless
// it was before that.
func (d *driver) complete(before map[int64]bool) error {
	for _, l := range *d.log {
		n := d.given[l.LogOffset]
		if n > 1 || n == 0 && !before[l.LogOffset] {
			return fmt.Errorf("the record at %d of second %d was delivered %d times", l.LogOffset, l.slot, n)
		}
	}
	return nil
}

// send appends records to the log, most of them far off.
func send(rng *rand.Rand, log *[]logged, now int64, n int) {
	for range n {
		at := int64(0)
		if len(*log) > 0 {
			last := (*log)[len(*log)-1]
			at = last.LogOffset + int64(last.Size)
		}
		ahead := []int64{3 * 3600, 6 * 3600, 2 * 86_400, 5 * 86_400, 60 * 86_400}[rng.IntN(5)]
		size := 1 + rng.IntN(300)
		if rng.IntN(50) == 0 {
			size = 3000 + rng.IntN(9000)
		}
		record := make([]byte, size)
		for i := range record {
			record[i] = byte(rng.Uint32())
		}
		slot := now + rng.Int64N(ahead)
		if rng.IntN(3) == 0 {
			slot = slot/7200*7200 + rng.Int64N(2) // some seconds have many
		}
		l := logged{Entry: timer.Entry{Due: slot*1000 + rng.Int64N(1000), LogOffset: at, Size: int32(size)}, slot: slot, record: record}
		*log = append(*log, l)
	}
}
