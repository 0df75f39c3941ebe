package timer

import (
	"cmp"
	"context"
	"slices"
)

const (
	// hotBytes is how far behind its end the log is taken to be in memory, bytes.
	hotBytes = 64 << 20
	// fetchers is how many goroutines read ahead for one second: a disk serves several at once.
	fetchers = 4
	// maxPrefetches is how many seconds wait to be read ahead; more are read when they are due.
	maxPrefetches = 8
	// closeBytes is how much between two records is read rather than to read them apart, and
	// fetchBytes about how much is read in one go, bytes.
	closeBytes = 8 << 10
	fetchBytes = 1 << 20
)

// place is where a record lies in the log.
type place struct {
	logOffset int64
	size      int32
}

// prefetcher reads records of the log ahead, on goroutines of its own.
type prefetcher struct {
	log   Log
	ctx   context.Context // ends with the service
	lists chan []place
}

// prefetch has the records of a second that are in the log read before they are due, in the log's
// order: those that it got long ago may not be in memory any more.
func (p *prefetcher) prefetch(sec *second) {
	cold := p.log.MaxCommitLogOffset() - hotBytes
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
	case p.lists <- list:
	default:
	}
}

// run reads ahead until the service ends.
func (p *prefetcher) run() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case list := <-p.lists:
			slices.SortFunc(list, func(a, b place) int { return cmp.Compare(a.logOffset, b.logOffset) })
			done := make(chan struct{})
			part := (len(list) + fetchers - 1) / fetchers
			for n := range fetchers {
				go func() {
					p.fetch(list[min(n*part, len(list)):min((n+1)*part, len(list))])
					done <- struct{}{}
				}()
			}
			for range fetchers {
				<-done
			}
		}
	}
}

// fetch has records read into memory, those that lie close together in one go. What cannot be read
// is told when it is due.
func (p *prefetcher) fetch(list []place) {
	for len(list) > 0 {
		from, to, n := list[0].logOffset, int64(0), 0
		for ; n < len(list) && (n == 0 || list[n].logOffset <= to+closeBytes && to-from < fetchBytes); n++ {
			to = list[n].logOffset + int64(list[n].size)
		}
		list = list[n:]
		select {
		case <-p.ctx.Done():
			return
		default:
			p.log.Fetch(from, to)
		}
	}
}
