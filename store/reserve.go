package store

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wheelmq/wheelmq/store/region"
)

const (
	reserveDir    = "reserve"
	reservePieces = 8
)

// reserve is disk space kept for the queue pages of the broker's own records: files that are
// deleted one by one when the disk is full. The spare log file keeps the space of the records.
type reserve struct {
	fs   region.FS
	size int // of a piece, bytes

	mu   sync.Mutex // guards have
	have [reservePieces]bool
}

// openReserve finds what an earlier run has kept. It is an eighth of a log file's size in all.
func openReserve(fs region.FS, logFileSize int64) (*reserve, error) {
	r := &reserve{fs: fs, size: int(max(logFileSize/8/reservePieces, reserveStep))}
	entries, err := fs.List(reserveDir)
	if err != nil {
		return nil, err
	}
	for i := range r.have {
		r.have[i] = slices.ContainsFunc(entries, func(e region.Entry) bool { return reserveDir+"/"+e.Name == pieceName(i) })
	}
	return r, nil
}

func pieceName(i int) string { return fmt.Sprintf("%s/%d", reserveDir, i) }

// fill takes what is missing. The error wraps region.ErrNoSpace when the disk is full.
func (r *reserve) fill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.have {
		if r.have[i] {
			continue
		}
		if err := r.take(pieceName(i)); err != nil {
			return err
		}
		r.have[i] = true
	}
	return nil
}

func (r *reserve) take(name string) error {
	piece, err := r.fs.Open(name, r.size)
	if err != nil {
		return err
	}
	if err := errors.Join(piece.Reserve(0, r.size), piece.Close()); err != nil {
		return errors.Join(err, r.fs.Remove(name))
	}
	return nil
}

// release gives up a piece; false when none is left.
func (r *reserve) release() (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.have {
		if r.have[i] {
			r.have[i] = false
			return true, r.fs.Remove(pieceName(i))
		}
	}
	return false, nil
}

// left is how much of it is left, bytes.
func (r *reserve) left() (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, have := range r.have {
		if have {
			n += int64(r.size)
		}
	}
	return n
}
