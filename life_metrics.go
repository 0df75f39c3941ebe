package wheelmq

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/server"
)

var watermarkDesc = prometheus.NewDesc("rocketmq_processor_watermark",
	"Requests that wait for a worker. Most of the real broker's pools are none here: their requests run as they come.", []string{"processor"}, nil)

// processors are the real broker's pools, by the class of requests that does their work here.
var processors = map[string]remoting.Class{
	"send": remoting.Inline, "async_put": remoting.Inline, "pull": remoting.Pull, "lite_pull": remoting.Pull, "ack": remoting.Inline,
	"query_message": remoting.Query, "client_manager": remoting.Inline, "heartbeat": remoting.Inline, "transaction": remoting.Inline,
	"consumer_manager": remoting.Inline, "admin": remoting.Admin, "reply": remoting.Inline,
}

// watermarks shows the pools of the broker's port by the real broker's names.
type watermarks struct{ s *server.Server }

// Describe implements prometheus.Collector.
func (w watermarks) Describe(ch chan<- *prometheus.Desc) { ch <- watermarkDesc }

// Collect implements prometheus.Collector.
func (w watermarks) Collect(ch chan<- prometheus.Metric) {
	for name, class := range processors {
		ch <- prometheus.MustNewConstMetric(watermarkDesc, prometheus.GaugeValue, float64(w.s.Waiting(class)), name)
	}
}
