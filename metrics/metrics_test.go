package metrics_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/metrics"
)

func TestRegister(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	var sent atomic.Int64
	held, up := 2, false
	part := []prometheus.Collector{
		metrics.Counter("sent_total", "Sent.", sent.Load),
		metrics.Gauge("held", "Held.", func() int { return held }),
		metrics.Flag("up", "Up.", func() bool { return up }),
	}
	if err := metrics.Register(registry, "part", part...); err != nil {
		t.Fatal(err)
	}
	sent.Add(5)
	held, up = 1, true
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, f := range families {
		m := f.GetMetric()[0]
		got[f.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	if len(got) != 3 || got["sent_total"] != 5 || got["held"] != 1 || got["up"] != 1 {
		t.Errorf("gathered %v", got)
	}
	if err := metrics.Register(registry, "twice", part...); err == nil || !strings.HasPrefix(err.Error(), "twice: register metrics: ") {
		t.Errorf("a name that is taken: %v", err)
	}
	if err := metrics.Register(nil, "part", part...); err != nil {
		t.Errorf("without a registry: %v", err)
	}
}
