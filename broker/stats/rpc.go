package stats

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/remoting"
)

// rpcBounds are the upper bounds of rocketmq_rpc_latency_milliseconds.
var rpcBounds = [...]int64{1, 3, 5, 7, 10, 100, 1000, 2000, 3000}

var outcomeNames = [remoting.NumOutcomes]string{"success", "oneway", "cancelled", "process_request_failed"}

var rpcDesc = prometheus.NewDesc("rocketmq_rpc_latency_milliseconds", "From a request's arrival to its answer.",
	[]string{"protocol_type", "request_code", "response_code", "is_long_polling", "result"}, nil)

// served is what requests are told apart by.
type served struct {
	route    *remoting.Route
	code     int32
	deferred bool
	outcome  remoting.Outcome
}

// latency is how long requests took.
type latency struct {
	sum     atomic.Int64 // ms
	buckets [len(rpcBounds) + 1]atomic.Int64
}

func (l *latency) add(ms int64) {
	at := 0
	for at < len(rpcBounds) && ms > rpcBounds[at] {
		at++
	}
	l.buckets[at].Add(1)
	l.sum.Add(ms)
}

// RPC is how long the requests of a broker take. It implements remoting.Observer and prometheus.Collector.
type RPC struct {
	wire clock.Clock
	// creation is how long it took to create or change topics and groups, by request code.
	creation map[int32]*prometheus.HistogramVec

	mu    sync.Mutex // held while known is replaced
	known atomic.Pointer[map[served]*latency]
}

// NewRPC returns an RPC that is registered; metrics may be nil.
func NewRPC(wire clock.Clock, metrics prometheus.Registerer) (*RPC, error) {
	r := &RPC{wire: wire, creation: map[int32]*prometheus.HistogramVec{
		remoting.UpdateAndCreateTopic:             newCreation("topic"),
		remoting.UpdateAndCreateSubscriptionGroup: newCreation("consumer_group"),
	}}
	r.known.Store(&map[served]*latency{})
	if metrics == nil {
		return r, nil
	}
	list := []prometheus.Collector{r}
	for _, c := range r.creation {
		list = append(list, c)
	}
	for _, c := range list {
		if err := metrics.Register(c); err != nil {
			return nil, fmt.Errorf("stats: register metrics: %w", err)
		}
	}
	return r, nil
}

// newCreation shows changes of topics or groups. Clients cannot change the broker's own.
func newCreation(what string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "rocketmq_" + what + "_create_execution_time_milliseconds", Help: "How long it took to create or change one on request.",
		ConstLabels: prometheus.Labels{"is_system": "false"}, Buckets: []float64{10, 100, 1000, 3000, 5000},
	}, []string{"invocation_status"})
}

// NowMillis implements remoting.Observer.
func (r *RPC) NowMillis() int64 { return r.wire.NowMillis() }

// Served implements remoting.Observer. It does not allocate for what has been before.
func (r *RPC) Served(route *remoting.Route, code int32, tookMs int64, deferred bool, outcome remoting.Outcome) {
	key := served{route, code, deferred, outcome}
	l := (*r.known.Load())[key]
	if l == nil {
		l = r.learn(key)
	}
	l.add(tookMs)
	if c := r.creation[route.Code]; c != nil {
		status := "success"
		if code != remoting.Success {
			status = "failure"
		}
		c.WithLabelValues(status).Observe(float64(tookMs))
	}
}

func (r *RPC) learn(key served) *latency {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := *r.known.Load()
	if l := known[key]; l != nil {
		return l
	}
	more := maps.Clone(known)
	l := new(latency)
	more[key] = l
	r.known.Store(&more)
	return l
}

// Describe implements prometheus.Collector.
func (r *RPC) Describe(ch chan<- *prometheus.Desc) { ch <- rpcDesc }

// Collect implements prometheus.Collector. Two keys may have the same labels, as a deferred send has: they
// are shown together.
func (r *RPC) Collect(ch chan<- prometheus.Metric) {
	type shown struct {
		count, sum uint64
		buckets    map[float64]uint64
	}
	all := make(map[[4]string]*shown)
	for key, l := range *r.known.Load() {
		labels := key.labels()
		s := all[labels]
		if s == nil {
			s = &shown{buckets: make(map[float64]uint64, len(rpcBounds))}
			all[labels] = s
		}
		total := uint64(0)
		for i := range l.buckets {
			total += uint64(l.buckets[i].Load())
			if i < len(rpcBounds) {
				s.buckets[float64(rpcBounds[i])] += total
			}
		}
		s.count += total
		s.sum += uint64(l.sum.Load())
	}
	for labels, s := range all {
		ch <- prometheus.MustNewConstHistogram(rpcDesc, s.count, float64(s.sum), s.buckets, append([]string{"remoting"}, labels[:]...)...)
	}
}

// labels are the names of request and response, whether it was a long poll, and the outcome.
func (s *served) labels() [4]string {
	return [4]string{
		strings.ToLower(s.route.Name), strings.ToLower(remoting.ResponseCodeName(s.code)),
		strconv.FormatBool(s.deferred && longPolls[s.route.Code]), outcomeNames[s.outcome],
	}
}

// longPolls are the requests that wait for messages.
var longPolls = map[int32]bool{
	remoting.PullMessage: true, remoting.LitePullMessage: true, remoting.PopMessage: true, remoting.Notification: true, remoting.PollingInfo: true,
}
