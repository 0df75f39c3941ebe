package store_test

import (
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// slow is a clock on which everything takes long: it goes on by 700 ms when it is looked at.
type slow struct{ *clock.Virtual }

func (s slow) NowMillis() int64 {
	now := s.Virtual.NowMillis() + 700
	s.Virtual.Set(now)
	return now
}

// TestRecovery_TellsHowFarItIs rebuilds a store of 40 MB.
func TestRecovery_TellsHowFarItIs(t *testing.T) {
	t.Parallel()
	opts := options("")
	opts.Memory = region.NewMemory()
	opts.CommitLogFileSize, opts.MaxMessageSize = 11<<20, 1<<20
	s := mustOpen(t, opts)
	rec := record(0)
	rec.Body = make([]byte, 1<<20)
	for range 40 {
		if res, _ := s.Put(rec, nil); !res.OK() {
			t.Fatal(res)
		}
	}
	mustClose(t, s)
	if err := opts.Memory.Remove("consumequeue"); err != nil {
		t.Fatal(err)
	}
	log, lines := logtest.NewNullLogger()
	opts.Log, opts.Clock = log, slow{clock.NewVirtual(1_000_000)}
	var steps []string
	opts.OnStep = func(step string) { steps = append(steps, step) }
	s, err := store.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, s)
	var percents []int64
	for _, line := range lines.AllEntries() {
		if line.Message == "recovering the CommitLog" && line.Level == logrus.InfoLevel {
			percents = append(percents, line.Data["percent"].(int64))
		}
	}
	if len(percents) == 0 || percents[0] <= 0 || percents[len(percents)-1] >= 100 {
		t.Errorf("it said %v percent", percents)
	}
	told := strings.Join(steps, "; ")
	for _, want := range []string{"opening the ConsumeQueues; ", "recovering the CommitLog; recovering the CommitLog, ", " %; ", "opening the index; "} {
		if !strings.Contains(told, want) {
			t.Errorf("whoever asks is told %s, and not %q", told, want)
		}
	}
}
