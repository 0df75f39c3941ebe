package timer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// figures are the metrics by their names and labels, but for those of the storage: of a histogram the number, and the sum in ms.
func figures(t *testing.T, from prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				if !strings.HasPrefix(l.GetName(), "storage_") {
					name += " " + l.GetValue()
				}
			}
			switch {
			case m.GetHistogram() != nil:
				got[name], got[name+" sum"] = float64(m.GetHistogram().GetSampleCount()), m.GetHistogram().GetSampleSum()*1000
			case m.GetCounter() != nil:
				got[name] = m.GetCounter().GetValue()
			default:
				got[name] = m.GetGauge().GetValue()
			}
		}
	}
	return got
}

// TestService_Metrics has each figure move.
func TestService_Metrics(t *testing.T) {
	t.Parallel()
	l := newLabIn(t)
	registry := prometheus.NewRegistry()
	l.metrics, l.inOrder = registry, false
	l.open()
	defer l.close()
	busy := "Busy"
	l.refuse.Store(&busy)
	l.send("T", "a", delay(1000), key("a"))
	l.send("T", "b", delay(2000), key("b"))
	l.send("T", "c", delay(5000), key("c"))
	l.send("T", "d", delay(50*hour), key("d"))
	l.send("Busy", "e", delay(1000))
	l.send("Missing", "f", delay(1000))
	l.settle()
	l.mu.Lock()
	l.missing["Missing"] = true
	l.mu.Unlock()
	expect := func(when string, want map[string]float64) {
		t.Helper()
		got := figures(t, registry)
		for name, n := range want {
			if got[name] != n {
				t.Errorf("%s: %s is %v, want %v", when, name, got[name], n)
			}
		}
	}
	expect("pending", map[string]float64{
		"rocketmq_timing_messages T": 4, "rocketmq_timing_messages Busy": 1, "rocketmq_timing_messages Missing": 1,
		"rocketmq_timer_enqueue_lag": 0, "rocketmq_timer_dequeue_latency_milliseconds": 0, "wheelmq_timer_delivered_total": 0,
		"wheelmq_timer_far_entries": 1, "wheelmq_timer_delivery_latency": 0,
	})
	if err := l.service.Cancel(context.Background(), l.idOf("b")); err != nil {
		t.Fatal(err)
	}
	l.clock.Set(startMs + 1250)
	l.settle()
	expect("due", map[string]float64{
		"rocketmq_timing_messages T": 2, "wheelmq_timer_delivery_latency": 1, "wheelmq_timer_delivery_latency sum": 250,
		"wheelmq_timer_parked_total": 1, "wheelmq_timer_waiting": 1, "rocketmq_timer_dequeue_latency_milliseconds": 250, "wheelmq_timer_delivered_total": 2,
	})
	l.refuse.Store(nil)
	l.clock.Set(startMs + 2500)
	l.settle()
	expect("cancelled", map[string]float64{
		"wheelmq_timer_cancelled_total": 1, "wheelmq_timer_waiting": 0, "wheelmq_timer_delivery_latency": 2, "wheelmq_timer_delivery_latency sum": 1750,
		"rocketmq_timer_dequeue_latency_milliseconds": 0, "wheelmq_timer_unread_total": 0, "wheelmq_timer_unreadable_total": 0, "wheelmq_timer_damaged": 0,
	})
	if got := strings.Join(strings.Fields(fmt.Sprint(l.bodies("T"), l.bodies("Busy"))), " "); got != "a+1250 e+2500" {
		t.Errorf("delivered %s", got)
	}
}
