package store

import (
	"encoding/binary"
	"fmt"
	"runtime/debug"

	"github.com/wheelmq/wheelmq/message"
)

// Record implements Log.
func (s *Store) Record(offset int64, size int32) (Slice, error) {
	end := s.readable()
	if offset < s.log.min() || offset >= end {
		return Slice{}, fmt.Errorf("store: log offset %d is outside of [%d, %d)", offset, s.log.min(), end)
	}
	f := s.log.file(offset)
	if f == nil {
		return Slice{}, fmt.Errorf("store: the log file of offset %d is gone", offset)
	}
	if err := f.hold(); err != nil {
		return Slice{}, err
	}
	// Who reads the slice gets a panic, not the end of the process, when the file was cut.
	debug.SetPanicOnFault(true)
	at := offset - f.start
	rest := f.b[at:min(s.log.fileSize, end-f.start)]
	if size <= 0 {
		if err := looksLikeRecord(rest, offset); err != nil {
			f.drop()
			return Slice{}, err
		}
		size = int32(binary.BigEndian.Uint32(rest))
	}
	if int(size) > len(rest) {
		f.drop()
		return Slice{}, fmt.Errorf("store: %d bytes at log offset %d go past the end", size, offset)
	}
	// A damaged unit of a queue may point anywhere.
	if !message.Begins(rest, offset, size) {
		f.drop()
		return Slice{}, fmt.Errorf("store: no record of %d bytes starts at log offset %d", size, offset)
	}
	return Slice{Bytes: rest[:size:size], release: f.release}, nil
}

// Fetch asks for the log's bytes [from, to) to be read from the disk and does not wait until they
// are. What is not there is none to be read.
func (s *Store) Fetch(from, to int64) {
	for to = min(to, s.readable()); from < to; {
		f := s.log.file(from)
		if f == nil || f.hold() != nil {
			return
		}
		end := min(to, f.start+s.log.fileSize)
		f.region.Fetch(int(from-f.start), int(end-f.start))
		f.drop()
		from = end
	}
}

// readable is the end of what may be shown: under SYNC_FLUSH only what is durable.
func (s *Store) readable() int64 {
	if s.opts.SyncFlush {
		return s.log.flushed.Load()
	}
	return s.log.end.Load()
}

// looksLikeRecord checks that a record starts at b whose own offset is the one asked for.
func looksLikeRecord(b []byte, offset int64) error {
	v, err := message.Parse(b)
	if err != nil {
		return fmt.Errorf("store: log offset %d: %w", offset, err)
	}
	if v.CommitLogOffset != offset {
		return fmt.Errorf("store: log offset %d: the record there says %d", offset, v.CommitLogOffset)
	}
	return nil
}

// StoreTimestamp is the store timestamp of a queue's record, ms, and false when it cannot be
// read.
func (s *Store) StoreTimestamp(q *ConsumeQueue, offset int64) (int64, bool) {
	u, ok := q.Unit(offset)
	if !ok {
		return 0, false
	}
	slice, err := s.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return 0, false
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return 0, false
	}
	return v.StoreTimestamp, true
}

// OffsetByTime finds an offset by store time, ms. Lower: the first record not older, or Max.
// Upper: the last record not younger, or Min.
func (s *Store) OffsetByTime(q *ConsumeQueue, timestamp int64, upper bool) int64 {
	lo, hi := q.Min(), q.Max()
	first := lo
	for lo < hi {
		mid := lo + (hi-lo)/2
		stamp, ok := s.StoreTimestamp(q, mid)
		before := !ok || stamp < timestamp || upper && stamp == timestamp
		if before {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if upper {
		return max(first, lo-1)
	}
	return lo
}
