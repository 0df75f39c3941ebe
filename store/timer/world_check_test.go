package timer_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/wheelmq/wheelmq/store/timer"
)

// check compares a second.
func (w *world) check(tl *timer.Timeline, m *model, second int64) error {
	if second >= m.nearEnd {
		if _, err := tl.Read(second); !errors.Is(err, timer.ErrNotReady) {
			return fmt.Errorf("far second %d: %w", second, err)
		}
		return nil
	}
	r, err := tl.Read(second)
	if errors.Is(err, timer.ErrNotReady) {
		// Its hour waits for a job; what is wrong would show when it has run.
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	var got []timer.Item
	for item, ok := r.Next(); ok; item, ok = r.Next() {
		got = append(got, item)
	}
	list := m.slots[second]
	if slices.ContainsFunc(list, func(k kept) bool { return k.rebuilt }) {
		// What the far part had lost came again behind what it had.
		slices.SortFunc(got, func(a, b timer.Item) int { return cmp.Compare(a.LogOffset, b.LogOffset) })
	}
	if r.Err() != nil || len(got) != len(list) {
		return fmt.Errorf("second %d has %d entries, not %d: %w", second, len(got), len(list), r.Err())
	}
	for i, item := range got {
		if err := list[i].same(&item); err != nil {
			return fmt.Errorf("entry %d of second %d: %w", i, second, err)
		}
	}
	return nil
}

// same tells how an entry that was read differs.
func (k *kept) same(item *timer.Item) error {
	if item.Entry != k.Entry {
		return fmt.Errorf("%+v, not %+v", item.Entry, k.Entry)
	}
	if !k.rebuilt && (item.Record == nil) != k.near {
		return fmt.Errorf("near %v, but %d bytes of its record", k.near, len(item.Record))
	}
	if item.Record != nil && !slices.Equal(item.Record, recordOf(k.LogOffset, k.Size)) {
		return errors.New("it has another record")
	}
	return nil
}

// checkAll compares everything.
func (w *world) checkAll(tl *timer.Timeline, m *model) error {
	if tl.Hand() != m.hand || tl.NearEnd() != m.nearEnd {
		return fmt.Errorf("hand %d, near until %d, not %d and %d", tl.Hand(), tl.NearEnd(), m.hand, m.nearEnd)
	}
	pending, oldest, unsure := int64(0), int64(-1), false
	for second, list := range m.slots {
		if err := w.check(tl, m, second); err != nil {
			return err
		}
		pending += int64(len(list))
		for _, k := range list {
			unsure = unsure || k.rebuilt
			if k.near && (oldest < 0 || k.LogOffset < oldest) {
				oldest = k.LogOffset
			}
		}
	}
	if err := browsed(tl.Browse, m, tl.Hand()); err != nil {
		return err
	}
	if got, ok := tl.OldestReference(); !unsure && ok != (oldest >= 0) || !unsure && ok && got != oldest {
		return fmt.Errorf("the oldest reference is %d, %v, not %d", got, ok, oldest)
	}
	if s := tl.Stats(); !w.rebuilt && (s.Pending() < pending || s.Pending() > pending && !w.passed || s.Damaged != 0) {
		return fmt.Errorf("%+v: not %d", s, pending)
	}
	return w.checkNext(tl, m)
}

func (w *world) checkNext(tl *timer.Timeline, m *model) error {
	want, any := m.next()
	got, ok := tl.Next()
	if any && (!ok || got > want) {
		return fmt.Errorf("next is %d, %v, not %d, %v", got, ok, want, any)
	}
	first, found := int64(0), false
	for second, list := range m.slots {
		for _, k := range list {
			if second >= m.hand && k.Flags == 0 && (!found || k.Due < first) {
				first, found = k.Due, true
			}
		}
	}
	if due, ok, err := tl.FirstDue(); err != nil || (ok != found || ok && due != first) && !(w.passed && ok && (!found || due < first)) {
		return fmt.Errorf("the first is due at %d, %v, not %d, %v: %w", due, ok, first, found, err)
	}
	return nil
}
