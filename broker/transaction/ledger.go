package transaction

import "math/bits"

// pageSize is how many half messages share a page of the ledger.
const (
	pageBits  = 9
	pageSize  = 1 << pageBits
	pageWords = pageSize / 64
)

// page is the state of pageSize half messages in a row.
type page struct {
	ended [pageWords]uint64
	left  int               // that are not ended, those to come included
	asked *[pageSize]uint16 // how often their producers were asked; nil: never
}

// ledger knows which half messages are open, by queue offset. What lies below its head is ended. It
// takes a bit for each half message between the oldest open one and the newest, and two bytes more
// where producers were asked. The caller's lock guards it.
type ledger struct {
	pages []*page // nil: all ended
	first int64   // offset of the first page's first half message
	head  int64   // all below are ended
	end   int64   // of what is known
	open  int64   // how many are
}

// begin makes the ledger one in which all below an offset are ended.
func (l *ledger) begin(offset int64) {
	*l = ledger{first: offset &^ (pageSize - 1), head: offset, end: offset}
}

// grow makes known what has arrived below an offset: it is open.
func (l *ledger) grow(end int64) {
	if end <= l.end {
		return
	}
	l.open += end - l.end
	for l.first+int64(len(l.pages))*pageSize < end {
		p := &page{left: pageSize}
		if start := l.first + int64(len(l.pages))*pageSize; start < l.head {
			for i := range l.head - start {
				p.ended[i/64] |= 1 << (i % 64)
			}
			p.left -= int(l.head - start)
		}
		l.pages = append(l.pages, p)
	}
	l.end = end
}

// page is the page of a half message, nil when all of it is ended or nothing of it is known.
func (l *ledger) page(offset int64) (p *page, at int64) {
	if offset < l.head || offset >= l.end {
		return nil, 0
	}
	return l.pages[(offset-l.first)/pageSize], offset & (pageSize - 1)
}

// isOpen tells whether a half message is open. One that is not known yet is not.
func (l *ledger) isOpen(offset int64) bool {
	p, at := l.page(offset)
	return p != nil && p.ended[at/64]&(1<<(at%64)) == 0
}

// close notes the end of a half message, and tells whether it was open.
func (l *ledger) close(offset int64) bool {
	if !l.isOpen(offset) {
		return false
	}
	p, at := l.page(offset)
	p.ended[at/64] |= 1 << (at % 64)
	l.open--
	if p.left--; p.left == 0 {
		l.pages[(offset-l.first)/pageSize] = nil
	}
	if offset == l.head {
		l.advance()
	}
	return true
}

// advance moves the head to the first that is open, and lets go of the pages below it.
func (l *ledger) advance() {
	l.head = l.next(l.head)
	n := (l.head - l.first) / pageSize
	clear(l.pages[:n])
	l.pages = l.pages[n:]
	l.first += n * pageSize
}

// next is the first open half message from an offset on, or the end of what is known.
func (l *ledger) next(offset int64) int64 {
	for offset = max(offset, l.head); offset < l.end; {
		p, at := l.page(offset)
		if p == nil {
			offset += pageSize - offset&(pageSize-1)
			continue
		}
		if w := ^p.ended[at/64] >> (at % 64); w != 0 {
			return min(offset+int64(bits.TrailingZeros64(w)), l.end)
		}
		offset += 64 - at%64
	}
	return l.end
}

// asked is how often the producer of an open half message was asked by this server.
func (l *ledger) asked(offset int64) int {
	if p, at := l.page(offset); p != nil && p.asked != nil {
		return int(p.asked[at])
	}
	return 0
}

// setAsked notes how often it was.
func (l *ledger) setAsked(offset int64, times int) {
	p, at := l.page(offset)
	if p == nil {
		return
	}
	if p.asked == nil {
		p.asked = new([pageSize]uint16)
	}
	p.asked[at] = uint16(min(times, 1<<16-1))
}
