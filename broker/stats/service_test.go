package stats_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/internal/await"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, wire *clock.Virtual) *stats.Service {
	t.Helper()
	s, err := stats.New(stats.Options{Wire: wire, Cluster: "C", Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { _ = s.Close() })
	waitArmed(t, wire, wire.NowMillis()+1000)
	return s
}

// run lets seconds pass, one sample each.
func run(t *testing.T, wire *clock.Virtual, seconds int) {
	t.Helper()
	for range seconds {
		next := wire.NowMillis() + 1000
		wire.Set(next)
		waitArmed(t, wire, next+1000)
	}
}

func waitArmed(t testing.TB, wire *clock.Virtual, at int64) {
	t.Helper()
	await.Until(t, fmt.Sprintf("a timer is armed for %d", at), func() bool {
		next, armed := wire.Next()
		return armed && next == at
	})
}

func TestUnknownStatistics(t *testing.T) {
	t.Parallel()
	s := open(t, clock.NewVirtual(0))
	s.TopicCounters([]byte("T"))
	for _, key := range [][2]string{
		{"TOPIC_PUT_NUMS", "nosuch"}, {"TOPIC_PUT_NUMS", "T"}, {"NOSUCH", "T"},
		{"GROUP_GET_NUMS", "T@g"}, {"BROKER_PUT_NUMS", "C"}, {"BROKER_PUT_NUMS", "X"},
	} {
		if _, ok := s.View(key[0], key[1]); ok {
			t.Errorf("%s %s exists", key[0], key[1])
		}
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	wire := clock.NewVirtual(1_000_000)
	s := open(t, wire)
	topic, group := s.TopicCounters([]byte("T")), s.GroupCounters([]byte("g"), []byte("T"))
	run(t, wire, 10) // a first sample that knows both
	for range 6 {
		topic.PutOK(1, 100)
		topic.PutOK(9, 900)
		group.Got(5, 500)
		run(t, wire, 10)
	}
	v, ok := s.View("TOPIC_PUT_NUMS", "T")
	if !ok || v.Minute.Sum != 60 || v.Minute.TPS != 1 || v.Minute.AvgPT != 5 {
		t.Errorf("puts of the minute %+v, want sum 60, tps 1, avgpt 5", v.Minute)
	}
	if v, _ := s.View("GROUP_GET_SIZE", "T@g"); v.Minute.Sum != 3000 {
		t.Errorf("bytes got in the minute %+v, want 3000", v.Minute)
	}
	if got := s.PutTPS("T"); got != 1 {
		t.Errorf("put tps %v, want 1", got)
	}
	if got := s.GotTPS("g", "T"); got != 0.5 {
		t.Errorf("got tps %v, want 0.5", got)
	}
	totals := s.Totals()
	if totals.Puts != 60 || totals.PutBytes != 6000 || totals.PutTPS[1] != 1 || totals.TransferredTPS[1] != 0.5 {
		t.Errorf("totals %+v", totals)
	}
	s.DeleteTopic("T")
	if _, ok := s.View("TOPIC_PUT_NUMS", "T"); ok {
		t.Error("a deleted topic has statistics")
	}
	if _, ok := s.View("GROUP_GET_NUMS", "T@g"); ok {
		t.Error("a deleted topic's group has statistics")
	}
}

func TestSystemTopicsAreNotToday(t *testing.T) {
	t.Parallel()
	s := open(t, clock.NewVirtual(0))
	s.TopicCounters([]byte("SCHEDULE_TOPIC_XXXX")).PutOK(1, 10)
	s.TopicCounters([]byte("T")).PutOK(1, 10)
	if totals := s.Totals(); totals.Puts != 2 || totals.PutsToday != 1 {
		t.Errorf("puts %d, today %d; want 2 and 1", totals.Puts, totals.PutsToday)
	}
}

func TestPutDurations(t *testing.T) {
	t.Parallel()
	s := open(t, clock.NewVirtual(0))
	for range 98 {
		s.TopicCounters([]byte("T")).PutTook(0, 0)
	}
	s.TopicCounters([]byte("T")).PutTook(0, 12)
	s.TopicCounters([]byte("T")).PutTook(0, 7000)
	totals := s.Totals()
	if totals.PutTookMax != 7000 || totals.PutLatency99 != 7000 {
		t.Errorf("max %d, p99 %v; want 7000 and 7000", totals.PutTookMax, totals.PutLatency99)
	}
	const want = "[<=0ms]:98 [0~10ms]:0 [10~50ms]:1 [50~100ms]:0 [100~200ms]:0 [200~500ms]:0 [500ms~1s]:0 " +
		"[1~2s]:0 [2~3s]:0 [3~4s]:0 [4~5s]:0 [5~10s]:1 [10s~]:0 "
	if totals.PutDistribution != want {
		t.Errorf("distribution %s\nwant         %s", totals.PutDistribution, want)
	}
	if strings.Count(totals.PutDistribution, "[") != 13 {
		t.Error("RocketMQ has 13 classes")
	}
}

func BenchmarkCounting(b *testing.B) {
	s := open(b, clock.NewVirtual(0))
	topic, group := []byte("a-topic"), []byte("a-group")
	b.ReportAllocs()
	for b.Loop() {
		s.TopicCounters(topic).PutOK(1, 100)
		s.GroupCounters(group, topic).Got(1, 100)
	}
}
