package timer

import (
	"cmp"
	"slices"
)

const (
	// hotBytes is how far behind its end the log is taken to be in memory, bytes.
	hotBytes = 64 << 20
	// fetchers is how many goroutines read ahead for one second: a disk serves several at once.
	fetchers = 4
	// maxPrefetches is how many seconds wait to be read ahead; more are read when they are due.
	maxPrefetches = 8
)

// place is where a record lies in the log.
type place struct {
	logOffset int64
	size      int32
}

// prefetch has the records of a second that are in the log read before they are due, in the log's
// order: those that it got long ago may not be in memory any more.
func (s *Service) prefetch(sec *second) {
	cold := s.opts.Log.MaxCommitLogOffset() - hotBytes
	var list []place
	for i := range sec.entries {
		if e := &sec.entries[i]; e.record == nil && e.logOffset < cold {
			list = append(list, place{e.logOffset, e.size})
		}
	}
	if len(list) == 0 {
		return
	}
	select {
	case s.fetches <- list:
	default:
	}
}

// runPrefetch reads ahead.
func (s *Service) runPrefetch() {
	defer s.wg.Done()
	for {
		select {
		case <-s.stop:
			return
		case list := <-s.fetches:
			slices.SortFunc(list, func(a, b place) int { return cmp.Compare(a.logOffset, b.logOffset) })
			done := make(chan struct{})
			part := (len(list) + fetchers - 1) / fetchers
			for n := range fetchers {
				go func() {
					s.touch(list[min(n*part, len(list)):min((n+1)*part, len(list))])
					done <- struct{}{}
				}()
			}
			for range fetchers {
				<-done
			}
		}
	}
}

// touch reads records into memory. What cannot be read is told when it is due.
func (s *Service) touch(list []place) {
	for _, p := range list {
		select {
		case <-s.stop:
			return
		default:
			s.touchOne(p)
		}
	}
}

func (s *Service) touchOne(p place) (sum byte) {
	defer func() {
		if p := recover(); p != nil {
			_ = faultOf(p)
		}
	}()
	slice, err := s.opts.Log.Record(p.logOffset, p.size)
	if err != nil {
		return 0
	}
	defer slice.Release()
	for at := 0; at < len(slice.Bytes); at += 4096 {
		sum ^= slice.Bytes[at]
	}
	return sum ^ slice.Bytes[len(slice.Bytes)-1]
}
