package admin

import (
	"fmt"
	"testing"
	"time"
)

func TestMadeAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.Local)
	id := func(at time.Time) string {
		return fmt.Sprintf("7F000001ABCD00000001%08X0001", idMillis(at.UnixMilli()))
	}
	for _, at := range []time.Time{now, now.Add(-time.Hour), now.Add(-24 * time.Hour), now.AddDate(0, 0, -20)} {
		if ms, ok := MadeAt(id(at), now.UnixMilli()); !ok || ms != at.UnixMilli() {
			t.Errorf("an id of %v is read as %v, %v", at, time.UnixMilli(ms), ok)
		}
	}
	for _, id := range []string{"", "xyz", "7F000001ABCD00000001FFFFFFFF0001"} {
		if _, ok := MadeAt(id, now.UnixMilli()); ok {
			t.Errorf("%q is taken for an id with a time", id)
		}
	}
}
