package timer_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/wheelmq/wheelmq/store/timer"
)

// browsed compares all that stretch after stretch gives from a second on.
func browsed(browse func(from, before int64) *timer.Browser, m *model, from int64) error {
	for b := browse(from, math.MaxInt64); b != nil; b = browse(from, math.MaxInt64) {
		for second := range m.slots {
			if second >= from && second < b.From {
				return fmt.Errorf("second %d is not browsed: from %d on it goes on at %d", second, from, b.From)
			}
		}
		err := stretch(b, m)
		from = b.To
		b.Close()
		if err != nil {
			return err
		}
	}
	for second := range m.slots {
		if second >= from {
			return fmt.Errorf("second %d is not browsed: the end is at %d", second, from)
		}
	}
	return nil
}

// stretch compares what a Browser gives.
func stretch(b *timer.Browser, m *model) error {
	got := make(map[int64][]timer.Item)
	for second, item, ok := b.Next(); ok; second, item, ok = b.Next() {
		item.Record = slices.Clone(item.Record)
		got[second] = append(got[second], item)
	}
	if b.Err() != nil || b.Lost() != 0 || len(b.Missing()) > 0 {
		return fmt.Errorf("seconds %d to %d: %d lost, %v missing: %w", b.From, b.To, b.Lost(), b.Missing(), b.Err())
	}
	for second := range got {
		if m.slots[second] == nil || second < b.From || second >= b.To {
			return fmt.Errorf("second %d of %d to %d has entries: %+v", second, b.From, b.To, got[second])
		}
	}
	for second, list := range m.slots {
		if second < b.From || second >= b.To {
			continue
		}
		items := got[second]
		slices.SortFunc(items, func(a, b timer.Item) int { return int(a.LogOffset - b.LogOffset) })
		if len(items) != len(list) {
			return fmt.Errorf("second %d of %d to %d has %d entries, not %d", second, b.From, b.To, len(items), len(list))
		}
		for i := range items {
			if err := list[i].same(&items[i]); err != nil {
				return fmt.Errorf("entry %d of second %d, browsed: %w", i, second, err)
			}
		}
	}
	return nil
}

// browsing is a Browser that is kept, and what it has to give.
type browsing struct {
	tl   *timer.Timeline
	b    *timer.Browser
	want model
}

// browse takes a Browser that is read a while later, over whatever happens to the files meanwhile.
func (w *world) browse() error {
	h := w.browsing
	w.browsing = nil
	if h == nil {
		if b := w.tl.Browse(w.hand+int64(w.pick(4000)), math.MaxInt64); b != nil {
			w.browsing = &browsing{w.tl, b, w.model.clone()}
		}
		return nil
	}
	if h.tl != w.tl {
		return nil // it was of a life that has ended
	}
	defer h.b.Close()
	if err := stretch(h.b, &h.want); err != nil {
		return fmt.Errorf("browsed later: %w", err)
	}
	return nil
}
