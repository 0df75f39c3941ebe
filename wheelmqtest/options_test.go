package wheelmqtest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/wheelmqtest"
)

func TestOptions_ThatMakeNoSenseAreRefused(t *testing.T) {
	for want, option := range map[string]wheelmqtest.Option{
		"want 1 or more":     wheelmqtest.Topic("orders", 0),
		"did you mean":       wheelmqtest.Set("flushDiskTyp=SYNC_FLUSH"),
		"want key=value":     wheelmqtest.Set("flushDiskType"),
		"want 1970 or later": wheelmqtest.VirtualClock(time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)),
		`profile="4.9"`:      wheelmqtest.Profile("4.9"),
	} {
		var f failing
		f.run(func() { wheelmqtest.Start(&f, option) })
		if got := f.shown.String(); !strings.Contains(got, want) {
			t.Errorf("shown %q, want %q", got, want)
		}
	}
}
