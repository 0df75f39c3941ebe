package store

import (
	"encoding/binary"
	"fmt"

	"github.com/wheelmq/wheelmq/message"
)

// Scan calls fn with every readable record from a log offset on, in order. from is where a
// record starts; what lies below the log's beginning counts as that. The view is valid only
// inside fn, whose error ends the scan. A place that holds no record is an error.
func (s *Store) Scan(from int64, fn func(*message.View) error) error {
	at := max(from, s.log.min())
	for end := s.readable(); at < end; {
		f := s.log.file(at)
		if f == nil {
			return fmt.Errorf("store: the log file of offset %d is gone", at)
		}
		if err := f.hold(); err != nil {
			return err
		}
		next, err := scanFile(f, at, min(end, f.start+s.log.fileSize), fn)
		f.drop()
		if err != nil {
			return err
		}
		at = next
	}
	return nil
}

// scanFile visits the records of one file from at on and returns where the next file begins,
// or end.
func scanFile(f *file, at, end int64, fn func(*message.View) error) (int64, error) {
	for at < end {
		b := f.b[at-f.start:]
		if isBlank(b) {
			return at + int64(len(b)), nil
		}
		v, err := message.Parse(b[:min(int64(len(b)), end-at)])
		if err != nil {
			return at, fmt.Errorf("store: log offset %d: %w", at, err)
		}
		if v.CommitLogOffset != at {
			return at, fmt.Errorf("store: log offset %d: the record there says %d", at, v.CommitLogOffset)
		}
		if err := fn(&v); err != nil {
			return at, err
		}
		at += int64(v.Size)
	}
	return at, nil
}

// isBlank tells whether b is the unused rest of a log file.
func isBlank(b []byte) bool {
	return len(b) >= message.BlankLength && binary.BigEndian.Uint32(b[4:]) == message.MagicBlank &&
		int(binary.BigEndian.Uint32(b)) == len(b)
}
