package wheelmqtest_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/wheelmqtest"
)

// rssAnon is the memory of this process that is not files, KiB.
func rssAnon(t *testing.T) int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc here")
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Skip("this kernel does not tell RssAnon")
	return 0
}

// TestManyInstances prints how long starts take and what instances weigh.
func TestManyInstances(t *testing.T) {
	const instances = 50
	before := rssAnon(t)
	var ms []int64
	for range instances {
		start := clock.Real{}.NowMillis()
		mq := wheelmqtest.Start(t)
		ms = append(ms, clock.Real{}.NowMillis()-start)
		mq.Produce(wheelmqtest.ToProduce{Topic: "T", Body: make([]byte, 1024)})
	}
	each := (rssAnon(t) - before) / instances
	slices.Sort(ms)
	t.Logf("%d instances: start to ready median %d ms, slowest %d ms; %d KiB of RssAnon each", instances, ms[instances/2], ms[instances-1], each)
	if each > 15<<10 {
		t.Errorf("an instance takes %d KiB of RssAnon, want at most 15 MiB", each)
	}
}
