package client

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/remoting"
)

var (
	producersDesc = prometheus.NewDesc("rocketmq_producer_connections", "Producers, by what they are.",
		[]string{"language", "version", "protocol_type"}, nil)
	consumersDesc = prometheus.NewDesc("rocketmq_consumer_connections", "Members of a consumer group, by what they are.",
		[]string{"consumer_group", "language", "version", "consume_mode", "protocol_type", "is_system"}, nil)
)

// systemGroups is the beginning of the names of the broker's own groups.
const systemGroups = "CID_RMQ_SYS_"

// kind is what clients are told apart by.
type kind struct {
	group, mode string // of consumers
	language    remoting.Language
	version     int32
}

func (k *kind) labels() (language, version, protocol string) {
	return strings.ToLower(k.language.String()), remoting.VersionName(k.version), "remoting"
}

// connections collects the clients that are online.
type connections struct{ r *Registry }

// Describe implements prometheus.Collector.
func (c connections) Describe(ch chan<- *prometheus.Desc) {
	ch <- producersDesc
	ch <- consumersDesc
}

// Collect implements prometheus.Collector.
func (c connections) Collect(ch chan<- prometheus.Metric) {
	producers, consumers := c.count()
	for k, n := range producers {
		language, version, protocol := k.labels()
		ch <- prometheus.MustNewConstMetric(producersDesc, prometheus.GaugeValue, float64(n), language, version, protocol)
	}
	for k, n := range consumers {
		language, version, protocol := k.labels()
		ch <- prometheus.MustNewConstMetric(consumersDesc, prometheus.GaugeValue, float64(n),
			k.group, language, version, k.mode, protocol, strconv.FormatBool(strings.HasPrefix(k.group, systemGroups)))
	}
}

func (c connections) count() (producers, consumers map[kind]int) {
	producers, consumers = make(map[kind]int), make(map[kind]int)
	c.r.mu.RLock()
	defer c.r.mu.RUnlock()
	for _, members := range c.r.producers {
		for _, m := range members {
			producers[kind{language: m.Language, version: m.Version}]++
		}
	}
	for name, group := range c.r.consumers {
		mode := "push"
		if group.view.ConsumeType == ConsumeActively {
			mode = "pull"
		}
		for _, m := range group.view.Members {
			consumers[kind{name, mode, m.Language, m.Version}]++
		}
	}
	return producers, consumers
}
