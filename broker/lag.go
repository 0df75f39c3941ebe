package broker

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// lagOptions are what a lagCollector needs.
type lagOptions struct {
	Store clock.Clock
	// Offsets knows what groups have committed and pulled; see offset.Table.
	Offsets interface {
		Each(visit func(group, topic string, queueID int32, committed, pulled int64))
	}
	// Log has the queues; see store.Store.
	Log interface {
		Queue(topic []byte, queueID int32) *store.ConsumeQueue
		StoreTimestamp(q *store.ConsumeQueue, offset int64) (int64, bool)
	}
	// Popped visits what is in flight to groups that pop, at an instant, ms; may be nil.
	Popped func(visit func(pop.Info), now int64)
	// System tells the groups that are the broker's own.
	System func(group string) bool
}

var (
	lagLabels = []string{"topic", "consumer_group", "is_retry", "is_system"}

	lagMessagesDesc = prometheus.NewDesc("rocketmq_consumer_lag_messages", "Messages that the group has not finished with.", lagLabels, nil)
	lagLatencyDesc  = prometheus.NewDesc("rocketmq_consumer_lag_latency_milliseconds", "Age of the oldest of them.", lagLabels, nil)
	lagInFlightDesc = prometheus.NewDesc("rocketmq_consumer_inflight_messages", "Those of them that were given to a member.", lagLabels, nil)
	lagReadyDesc    = prometheus.NewDesc("rocketmq_consumer_ready_messages", "Those of them that were not.", lagLabels, nil)
	lagQueueingDesc = prometheus.NewDesc("rocketmq_consumer_queueing_latency_milliseconds", "Age of the oldest of those.", lagLabels, nil)
)

// lagCollector shows in the metrics how far consumer groups are behind, by the names and lagLabels of the real
// broker.
type lagCollector struct{ opts lagOptions }

// Describe implements prometheus.Collector.
func (c *lagCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{lagMessagesDesc, lagLatencyDesc, lagInFlightDesc, lagReadyDesc, lagQueueingDesc} {
		ch <- d
	}
}

// lagPlace is a group in a topic.
type lagPlace struct{ group, topic string }

// lagBehind is how far a group is behind in a topic.
type lagBehind struct {
	messages, ready   int64
	latency, queueing int64 // ms
}

// lagQueue is a group's progress in a queue.
type lagQueue struct {
	lagPlace
	id                int32
	committed, pulled int64
}

// Collect implements prometheus.Collector.
func (c *lagCollector) Collect(ch chan<- prometheus.Metric) {
	var queues []lagQueue
	c.opts.Offsets.Each(func(group, topic string, queueID int32, committed, pulled int64) {
		if committed != offset.None && !c.opts.System(group) {
			queues = append(queues, lagQueue{lagPlace{group, topic}, queueID, committed, pulled})
		}
	})
	now := c.opts.Store.NowMillis()
	places := make(map[lagPlace]*lagBehind)
	for i := range queues {
		c.add(places, &queues[i], now)
	}
	c.addPopped(places, now)
	for at, b := range places {
		retry := strings.HasPrefix(at.topic, message.PrefixRetry)
		values := []string{at.topic, at.group, strconv.FormatBool(retry), "false"}
		for _, m := range [...]struct {
			desc  *prometheus.Desc
			value int64
		}{
			{lagMessagesDesc, b.messages}, {lagLatencyDesc, b.latency}, {lagInFlightDesc, b.messages - b.ready},
			{lagReadyDesc, b.ready}, {lagQueueingDesc, b.queueing},
		} {
			ch <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(m.value), values...)
		}
	}
}

// add takes a queue into what its group is behind in its topic.
func (c *lagCollector) add(places map[lagPlace]*lagBehind, q *lagQueue, now int64) {
	stored := c.opts.Log.Queue([]byte(q.topic), q.id)
	if stored == nil {
		return
	}
	b := places[q.lagPlace]
	if b == nil {
		b = new(lagBehind)
		places[q.lagPlace] = b
	}
	lowest, end := stored.Min(), stored.Max()
	committed := min(max(q.committed, lowest), end)
	pulled := min(max(q.pulled, committed), end)
	b.messages += end - committed
	b.ready += end - pulled
	b.latency = max(b.latency, c.age(stored, committed, end, now))
	b.queueing = max(b.queueing, c.age(stored, pulled, end, now))
}

// addPopped takes what pops have in flight into what groups are behind. The group's offset is past it, but
// for what is popped in order.
func (c *lagCollector) addPopped(places map[lagPlace]*lagBehind, now int64) {
	if c.opts.Popped == nil {
		return
	}
	c.opts.Popped(func(i pop.Info) {
		if b := places[lagPlace{i.Key.Group, i.Key.Topic}]; b != nil {
			b.messages += i.InFlight - i.InOrder
			b.ready -= i.InOrder
		}
	}, now)
}

// age is how long ago the message at an offset was stored, ms; 0 at the end of the queue.
func (c *lagCollector) age(q *store.ConsumeQueue, offset, end, now int64) int64 {
	if offset >= end {
		return 0
	}
	stamp, ok := c.opts.Log.StoreTimestamp(q, offset)
	if !ok {
		return 0
	}
	return max(0, now-stamp)
}
