package transaction

import (
	"testing"

	"pgregory.net/rapid"
)

// ledgerModel is a ledger as a set.
type ledgerModel struct {
	begin, end int64
	open       map[int64]int // how often each was asked
}

func (m *ledgerModel) head() int64 {
	for offset := m.begin; offset < m.end; offset++ {
		if _, ok := m.open[offset]; ok {
			return offset
		}
	}
	return m.end
}

func (m *ledgerModel) compare(t *rapid.T, l *ledger) {
	t.Helper()
	if head := m.head(); l.head != head || l.end != m.end || l.open != int64(len(m.open)) {
		t.Fatalf("head %d, end %d, %d open, want %d, %d, %d", l.head, l.end, l.open, head, m.end, len(m.open))
	}
	next := m.end
	for offset := m.end + 1; offset >= m.begin-1; offset-- {
		times, open := m.open[offset]
		if open {
			next = offset
		}
		if l.isOpen(offset) != open || l.asked(offset) != times && open {
			t.Fatalf("%d is open: %t, asked %d times, want %t, %d", offset, l.isOpen(offset), l.asked(offset), open, times)
		}
		if got := l.next(offset); got != next {
			t.Fatalf("the first open one from %d on is %d, want %d", offset, got, next)
		}
	}
	m.comparePages(t, l)
}

// comparePages: a page is kept from the head on only, and while something of it is open or to come.
func (m *ledgerModel) comparePages(t *rapid.T, l *ledger) {
	t.Helper()
	if below := (l.head - l.first) / pageSize; below != 0 {
		t.Fatalf("%d pages are kept below the head", below)
	}
	for i, p := range l.pages {
		first := l.first + int64(i)*pageSize
		wanted := first+pageSize > m.end
		for offset := first; offset < first+pageSize && !wanted; offset++ {
			_, wanted = m.open[offset]
		}
		if (p != nil) != wanted {
			t.Fatalf("the page from %d on is kept: %t, want %t", first, p != nil, wanted)
		}
	}
}

// TestLedger holds a ledger to a set over any order of arrivals, ends and questions.
func TestLedger(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		begin := rapid.Int64Range(0, 3*pageSize).Draw(t, "begin")
		var l ledger
		l.begin(begin)
		m := ledgerModel{begin: begin, end: begin, open: make(map[int64]int)}
		anyOffset := rapid.Int64Range(-1, 400)
		t.Repeat(map[string]func(*rapid.T){
			"grow": func(t *rapid.T) {
				end := m.end + rapid.Int64Range(-3, 300).Draw(t, "more")
				l.grow(end)
				for ; m.end < end; m.end++ {
					m.open[m.end] = 0
				}
			},
			"close": func(t *rapid.T) {
				offset := m.head() + anyOffset.Draw(t, "offset")
				_, open := m.open[offset]
				if l.close(offset) != open {
					t.Fatalf("%d was open: %t, want %t", offset, !open, open)
				}
				delete(m.open, offset)
			},
			"close from the head on": func(t *rapid.T) {
				from := m.head()
				for offset := from; offset < min(m.end, from+rapid.Int64Range(1, 2*pageSize).Draw(t, "n")); offset++ {
					_, open := m.open[offset]
					if l.close(offset) != open {
						t.Fatalf("%d was open: %t, want %t", offset, !open, open)
					}
					delete(m.open, offset)
				}
			},
			"ask": func(t *rapid.T) {
				offset, times := m.head()+anyOffset.Draw(t, "offset"), rapid.IntRange(0, 1<<16-1).Draw(t, "times")
				l.setAsked(offset, times)
				if _, ok := m.open[offset]; ok {
					m.open[offset] = times
				}
			},
			"": func(t *rapid.T) { m.compare(t, &l) },
		})
	})
}

// TestLedger_KeepsABitForEach ends all but the first of very many.
func TestLedger_KeepsABitForEach(t *testing.T) {
	t.Parallel()
	const n = 1 << 20
	var l ledger
	l.begin(5)
	l.grow(5 + n)
	for offset := int64(6); offset < 5+n; offset++ {
		l.close(offset)
	}
	kept := 0
	for _, p := range l.pages {
		if p != nil {
			kept++
		}
	}
	if kept > 2 || l.open != 1 || l.head != 5 {
		t.Errorf("%d pages are kept, %d open, the head is %d", kept, l.open, l.head)
	}
	if l.close(5); l.head != 5+n || len(l.pages) > 1 {
		t.Errorf("all ended: the head is %d, %d pages", l.head, len(l.pages))
	}
}
