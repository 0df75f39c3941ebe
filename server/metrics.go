package server

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/remoting"
)

type metrics struct {
	connections prometheus.Gauge
	accepted    prometheus.Counter
	closed      *prometheus.CounterVec // by cause
	frames      prometheus.Counter
	bytesIn     prometheus.Counter
	busy        *prometheus.CounterVec // by class
	all         []prometheus.Collector
}

// Causes of a close, the label of wheelmq_connections_closed_total.
const (
	causePeer      = "peer"      // the client closed or broke it
	causeIdle      = "idle"      // no traffic
	causeMalformed = "malformed" // not a frame
	causeSlow      = "slow"      // replies not read
	causeRefused   = "refused"   // too many connections, or stopping
	causeServer    = "server"    // closed by a handler or at the stop
)

var classNames = [remoting.NumClasses]string{"inline", "pull", "query", "admin"}

func newMetrics(name string, pools *[remoting.NumClasses]*pool) *metrics {
	labels := prometheus.Labels{"server": name}
	m := &metrics{
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "wheelmq_connections", Help: "Open connections.", ConstLabels: labels}),
		accepted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "wheelmq_connections_accepted_total", Help: "Connections accepted.", ConstLabels: labels}),
		closed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wheelmq_connections_closed_total", Help: "Connections closed, by cause.", ConstLabels: labels}, []string{"cause"}),
		frames: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "wheelmq_frames_total", Help: "Frames received.", ConstLabels: labels}),
		bytesIn: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "wheelmq_received_bytes_total", Help: "Bytes of the frames received.", ConstLabels: labels}),
		busy: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wheelmq_requests_busy_total", Help: "Requests answered SYSTEM_BUSY because the pool of their class was full.",
			ConstLabels: labels}, []string{"class"}),
	}
	m.all = []prometheus.Collector{m.connections, m.accepted, m.closed, m.frames, m.bytesIn, m.busy}
	for class, p := range pools {
		if p == nil {
			continue
		}
		m.busy.WithLabelValues(classNames[class]) // shown from the start: an increase from nothing is none
		m.all = append(m.all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "wheelmq_requests_waiting", Help: "Requests that wait for a worker.",
			ConstLabels: prometheus.Labels{"server": name, "class": classNames[class]},
		}, func() float64 { return float64(len(p.tasks)) }))
	}
	return m
}

func (m *metrics) register(r prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	for i, c := range m.all {
		if err := r.Register(c); err != nil {
			for _, done := range m.all[:i] {
				r.Unregister(done)
			}
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}

func (m *metrics) unregister(r prometheus.Registerer) {
	if r == nil {
		return
	}
	for _, c := range m.all {
		r.Unregister(c)
	}
}
