package store

import (
	"errors"
	"fmt"

	"github.com/wheelmq/wheelmq/store/region"
)

// reserveStep is how much disk space a queue takes at a time, bytes: thousands of queues that
// hold little must not take a file each.
const reserveStep = 16 << 10

// ensure makes room for the next n units, so that publishing them cannot fail. Caller holds
// the append lock.
func (q *ConsumeQueue) ensure(n int) error {
	end := (q.next + int64(n)) * unitSize
	if end <= q.reserved.Load() {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.reserve(q.next*unitSize, end)
}

// reserve makes the bytes [from, to) writable. Caller holds mu.
func (q *ConsumeQueue) reserve(from, to int64) error {
	for at := max(from, q.reserved.Load()); at < to; at = q.reserved.Load() {
		if err := q.extend(at); err != nil {
			return err
		}
	}
	return nil
}

// extend puts disk space behind the bytes that follow at and maps their file for good.
// Everything below at has it already, or holds units. Caller holds mu.
func (q *ConsumeQueue) extend(at int64) error {
	f := q.fileOf(at)
	if f == nil {
		var err error
		if f, err = q.grow(at); err != nil {
			return err
		}
	}
	if err := f.hold(); err != nil {
		return err
	}
	defer f.drop()
	from := at - f.start
	to := min(from+reserveStep, q.fileSize)
	err := f.region.Reserve(int(from), int(to))
	if errors.Is(err, region.ErrNoSpace) {
		// A page may be left where four are not.
		to = min(from+pageSize, q.fileSize)
		err = f.region.Reserve(int(from), int(to))
	}
	if err != nil {
		return err
	}
	f.writing.Store(true)
	q.reserved.Store(f.start + to)
	return nil
}

// grow makes the file that is to hold the queue's byte at. The first file of a queue that
// begins later is filled up to its first unit. Caller holds mu.
func (q *ConsumeQueue) grow(at int64) (*file, error) {
	if err := q.eraseEarlier(); err != nil {
		return nil, err
	}
	start := at - at%q.fileSize
	f := newFile(q.fs, q.budget, fmt.Sprintf("%s/%020d", q.dir, start), start, q.fileSize)
	files := *q.files.Load()
	if len(files) == 0 && at > start {
		if err := f.fillTo(at - start); err != nil {
			f.discard()
			return nil, errors.Join(err, q.fs.Remove(f.name))
		}
	}
	grown := append(append(make([]*file, 0, len(files)+1), files...), f)
	q.files.Store(&grown)
	return f, nil
}

// fillTo marks the units below an offset of the file as not there.
func (f *file) fillTo(end int64) error {
	if err := f.hold(); err != nil {
		return err
	}
	defer f.drop()
	if err := f.region.Reserve(0, int(end)); err != nil {
		return err
	}
	for i := int64(0); i < end; i += unitSize {
		encodeUnit(f.b[i:], Unit{Size: fillerSize})
	}
	return nil
}
