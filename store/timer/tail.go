package timer

import (
	"bytes"
	"errors"
	"sync"
)

// clearers is how many segments are cleared at a time. Each waits for a page from disk, and a year
// has hundreds.
const clearers = 32

// clearTails clears what lies behind the ends of the segments that go on growing.
func (r *recovery) clearTails() error {
	tails := make(chan *segment, len(r.tails))
	for _, s := range r.tails {
		tails <- s
	}
	close(tails)
	errs := make([]error, min(clearers, len(r.tails)))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for s := range tails {
				errs[i] = errors.Join(errs[i], s.clear())
				s.x.close()
			}
		})
	}
	wg.Wait()
	r.tails = nil
	return errors.Join(errs...)
}

// pageSize is the unit of disk space, bytes.
const pageSize = 4096

// clear makes the bytes behind the end zeros: what an append does not write over must never be
// taken for records.
func (s *segment) clear() error {
	end := s.x.chunks(s.length) * s.x.chunk
	for pos := s.length; pos < end; {
		if err := s.x.use(pos); err != nil {
			return err
		}
		from, to := s.x.maps[pos/s.x.chunk].Written(int(pos - s.x.at))
		for at := from; at < to; at += pageSize - at%pageSize {
			page := s.x.b[at:min(at+pageSize-at%pageSize, to)]
			if !bytes.Equal(page, zeroPage[:len(page)]) {
				clear(page)
				s.dirty = s.x.at + int64(at+len(page))
			}
		}
		if pos = s.x.at + int64(to); from == to {
			return nil
		}
	}
	return nil
}

var zeroPage [pageSize]byte
