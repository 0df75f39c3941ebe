package stats

import (
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Kind is what a message is, as the label message_type of RocketMQ's metrics names it.
type Kind uint8

// Kinds of messages.
const (
	Normal Kind = iota
	FIFO
	Delay
	Transaction
	kinds
)

var kindNames = [kinds]string{"normal", "fifo", "delay", "transaction"}

// sizeBounds are the upper bounds of rocketmq_message_size, bytes.
var sizeBounds = [...]int64{1024, 4096, 524288, 1048576, 2097152, 4194304}

// traffic is the messages of one kind that were stored in a topic, by size.
type traffic struct {
	bytes atomic.Int64
	sizes [len(sizeBounds) + 1]atomic.Int64
}

// In counts a stored message of so many bytes in the topic that it was stored in: one that is delayed
// counts in its system topic, and in its own when it is delivered. It does not allocate.
func (t *Topic) In(kind Kind, size int64) { t.InMany(kind, 1, size) }

// InMany counts several messages of one size.
func (t *Topic) InMany(kind Kind, n, size int64) {
	at := 0
	for at < len(sizeBounds) && size > sizeBounds[at] {
		at++
	}
	in := &t.in[kind]
	in.sizes[at].Add(n)
	in.bytes.Add(n * size)
}

var (
	inLabels  = []string{"topic", "message_type", "is_system"}
	outLabels = []string{"topic", "consumer_group", "is_system"}

	messagesInDesc  = prometheus.NewDesc("rocketmq_messages_in_total", "Messages stored, by the topic they are stored in.", inLabels, nil)
	bytesInDesc     = prometheus.NewDesc("rocketmq_throughput_in_total", "Bytes of the messages stored.", inLabels, nil)
	sizeDesc        = prometheus.NewDesc("rocketmq_message_size", "Bytes of a stored message.", inLabels, nil)
	messagesOutDesc = prometheus.NewDesc("rocketmq_messages_out_total", "Messages given to consumers.", outLabels, nil)
	bytesOutDesc    = prometheus.NewDesc("rocketmq_throughput_out_total", "Bytes of the messages given to consumers.", outLabels, nil)
	deadDesc        = prometheus.NewDesc("rocketmq_send_to_dlq_messages_total", "Messages that went to their group's dead letters.", outLabels, nil)
)

// collector shows the traffic of each topic and group.
type collector struct{ s *Service }

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{messagesInDesc, bytesInDesc, sizeDesc, messagesOutDesc, bytesOutDesc, deadDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	c.s.mu.RLock()
	defer c.s.mu.RUnlock()
	for name, t := range c.s.topics {
		for kind := range t.in {
			t.in[kind].collect(ch, name, kindNames[kind], strconv.FormatBool(t.system))
		}
	}
	for key, g := range c.s.groups {
		topic, group, _ := strings.Cut(key, "@")
		labels := []string{topic, group, strconv.FormatBool(g.system)}
		for desc, value := range map[*prometheus.Desc]int64{
			messagesOutDesc: g.gots.sum.Load(), bytesOutDesc: g.gotBytes.sum.Load(), deadDesc: g.deadLetters.sum.Load(),
		} {
			if value > 0 {
				ch <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), labels...)
			}
		}
	}
}

// collect shows one kind, unless there was none.
func (in *traffic) collect(ch chan<- prometheus.Metric, labels ...string) {
	var total uint64
	buckets := make(map[float64]uint64, len(sizeBounds))
	for i := range in.sizes {
		total += uint64(in.sizes[i].Load())
		if i < len(sizeBounds) {
			buckets[float64(sizeBounds[i])] = total
		}
	}
	if total == 0 {
		return
	}
	bytes := float64(in.bytes.Load())
	ch <- prometheus.MustNewConstMetric(messagesInDesc, prometheus.CounterValue, float64(total), labels...)
	ch <- prometheus.MustNewConstMetric(bytesInDesc, prometheus.CounterValue, bytes, labels...)
	ch <- prometheus.MustNewConstHistogram(sizeDesc, total, bytes, buckets, labels...)
}
