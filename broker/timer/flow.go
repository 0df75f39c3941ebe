package timer

import "github.com/prometheus/client_golang/prometheus"

// delayBounds are the upper bounds of rocketmq_delay_message_latency_seconds.
var delayBounds = [...]int64{60, 600, 3600, 43200, 86400, 259200}

// flow is what came and went of a topic since the start.
type flow struct {
	in, out int64
	delays  [len(delayBounds) + 1]int64 // of those that came, by what was left of their delay
	delayMs int64
}

// took counts a message that is taken in so long before it is due, ms.
func (f *flow) took(delayMs int64) {
	delayMs = max(0, delayMs)
	at := 0
	for at < len(delayBounds) && delayMs > delayBounds[at]*1000 {
		at++
	}
	f.in++
	f.delays[at]++
	f.delayMs += delayMs
}

var (
	storedLabels = []string{"topic", "storage_type", "storage_medium"}

	enqueuedDesc = prometheus.NewDesc("rocketmq_timer_enqueue_total", "Timer messages taken in since the start, by topic.", storedLabels, nil)
	dequeuedDesc = prometheus.NewDesc("rocketmq_timer_dequeue_total", "Timer messages delivered, cancelled, parked or lost, by topic.", storedLabels, nil)
	delayDesc    = prometheus.NewDesc("rocketmq_delay_message_latency_seconds", "Seconds that timer messages are to wait, as they are taken in.", storedLabels, nil)
)

// collect shows the flow of a topic.
func (f *flow) collect(ch chan<- prometheus.Metric, topic string) {
	labels := []string{topic, "local", "disk"}
	ch <- prometheus.MustNewConstMetric(enqueuedDesc, prometheus.CounterValue, float64(f.in), labels...)
	ch <- prometheus.MustNewConstMetric(dequeuedDesc, prometheus.CounterValue, float64(f.out), labels...)
	buckets, total := make(map[float64]uint64, len(delayBounds)), uint64(0)
	for i, bound := range delayBounds {
		total += uint64(f.delays[i])
		buckets[float64(bound)] = total
	}
	total += uint64(f.delays[len(delayBounds)])
	ch <- prometheus.MustNewConstHistogram(delayDesc, total, float64(f.delayMs)/1000, buckets, labels...)
}
