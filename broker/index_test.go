package broker

import (
	"errors"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/store"
)

func TestIndexHealth(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stats  store.Stats
		want   health.State
		reason string
	}{
		"caught up":   {store.Stats{}, health.Up, ""},
		"a bit later": {store.Stats{IndexBehind: 1 << 20}, health.Up, ""},
		"rebuilding":  {store.Stats{IndexBehind: 1 << 30}, health.Degraded, "1073741824 bytes"},
		"no space":    {store.Stats{IndexBehind: 7, IndexError: errors.New("no space left")}, health.Degraded, "no space left; the last 7 bytes"},
	} {
		if got := indexHealth(c.stats); got.State != c.want || !strings.Contains(got.Reason, c.reason) || (c.reason == "") != (got.Reason == "") {
			t.Errorf("%s: %+v, want %s because of %q", name, got, c.want, c.reason)
		}
	}
}
