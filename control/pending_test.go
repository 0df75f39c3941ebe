package control_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/control"
)

// source has so many messages, a second between them, and counts how many it had to show.
type source struct{ messages, shown int }

func (s *source) EachPending(fromMs int64, visit func(p broker.Pending) error) (unread int64, err error) {
	for i := range s.messages {
		p := broker.Pending{Due: int64(i+1) * 1000, Wall: true, CommitLogOffset: int64(i) * 100}
		if p.Due < fromMs {
			continue
		}
		s.shown++
		if err := visit(p); err != nil {
			return 3, err
		}
	}
	return 3, nil
}

// TestListPending_Total counts so far and no farther, and once only.
func TestListPending_Total(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		messages int
		after    string
		total    int64
		atLeast  bool
		shown    int
	}{
		{0, "", 0, false, 0},
		{control.MaxTotal, "", control.MaxTotal, false, control.MaxTotal},
		{control.MaxTotal + 1, "", control.MaxTotal, true, control.MaxTotal + 1},
		{3_000_000, "", control.MaxTotal, true, control.MaxTotal + 1},
		{3_000_000, "5000.2147483647.400", 0, false, 2},
	} {
		s := &source{messages: c.messages}
		page, err := control.ListPending(t.Context(), s, control.PendingFilter{After: c.after})
		if err != nil || page.Total != c.total || page.AtLeast != c.atLeast || page.Unread != 3 {
			t.Errorf("of %d after %q: %+v, %v", c.messages, c.after, page, err)
		}
		if s.shown != c.shown {
			t.Errorf("of %d after %q: %d were looked at, want %d", c.messages, c.after, s.shown, c.shown)
		}
	}
}

// TestCountPending_Unread counts what cannot be read apart.
func TestCountPending_Unread(t *testing.T) {
	t.Parallel()
	list, err := control.CountPending(t.Context(), &source{messages: 150}, control.PendingFilter{FromMs: 61_000}, time.Minute)
	want := []control.PendingCount{{Messages: 3}, {FromMs: 60_000, Messages: 59}, {FromMs: 120_000, Messages: 31}}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("%+v, %v, want %+v", list, err, want)
	}
}
