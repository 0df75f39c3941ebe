package timer

import (
	"bytes"
	"errors"
	"sync"
)

// clearers is how many segments are cleared at a time. Each waits for the disk, and a year has
// hundreds.
const clearers = 32

// clearTails clears what lies behind the ends of the segments that go on growing. All pages that must
// be read are asked for before the first is waited for: a thread that waits for a mapped page keeps
// others from running.
func (r *recovery) clearTails() error {
	err := r.eachTail((*segment).cutTail)
	if err == nil {
		err = r.eachTail((*segment).clearPage)
	}
	for _, s := range r.tails {
		s.x.close()
	}
	r.tails = nil
	return err
}

// eachTail calls fn for every one of them, for many at a time.
func (r *recovery) eachTail(fn func(*segment) error) error {
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
				errs[i] = errors.Join(errs[i], fn(s))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// pageSize is the unit of disk space, bytes.
const pageSize = 4096

// cutTail makes zeros of the whole pages behind the end: what an append does not write over must never
// be taken for records. The page that the end lies in is asked for.
func (s *segment) cutTail() error {
	if err := s.x.use(s.length); err != nil {
		return err
	}
	r, at := s.x.maps[s.length/s.x.chunk], int(s.length-s.x.at)
	page := min(alignUp(at, pageSize), len(s.x.b))
	if page > at {
		r.Fetch(at, page)
	}
	first, end := r.Written(page)
	if first == end {
		return nil
	}
	for from, to := r.Written(end); from < to; from, to = r.Written(to) {
		end = to
	}
	// Behind what was written nothing takes space, and nothing is to take any.
	if r.Zero(first, end) {
		s.dirty = s.x.at + int64(end)
		return nil
	}
	for from, to := r.Written(page); from < to; from, to = r.Written(to) {
		s.clear(from, to)
	}
	return nil
}

func alignUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// clearPage makes zeros of the rest of the page that the end lies in.
func (s *segment) clearPage() error {
	if err := s.x.use(s.length); err != nil {
		return err
	}
	at := int(s.length - s.x.at)
	s.clear(at, min(alignUp(at, pageSize), len(s.x.b)))
	return nil
}

// clear makes zeros of the bytes [from, to) of the chunk that is used, page by page: one of zeros is
// not written to, and need not have space.
func (s *segment) clear(from, to int) {
	for at := from; at < to; at += pageSize - at%pageSize {
		page := s.x.b[at:min(at+pageSize-at%pageSize, to)]
		if !bytes.Equal(page, zeroPage[:len(page)]) {
			clear(page)
			s.dirty = max(s.dirty, s.x.at+int64(at+len(page)))
		}
	}
}

var zeroPage [pageSize]byte
