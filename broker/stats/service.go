package stats

import (
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/clock"
)

// Options configure a Service.
type Options struct {
	Wire    clock.Clock
	Cluster string                // key of the broker's own counters
	Metrics prometheus.Registerer // may be nil
}

// Service is the statistics of one broker. Its methods are safe for concurrent use.
type Service struct {
	opts   Options
	bootMs int64

	mu     sync.RWMutex // guards the maps
	topics map[string]*Topic
	groups map[string]*Group // by topic@group

	broker        [brokerCounters]counter
	putBytes      atomic.Int64
	gotBytes      atomic.Int64
	putFailed     atomic.Int64
	found, missed counter // pull requests
	putTook       histogram
	gotTookMax    atomic.Int64

	sampleMu sync.Mutex // guards the samples below and every counter's series
	put, get, miss, transferred,
	total ring
	ticks          int64
	day            int // day of the year of the last sample
	putDay, gotDay daily
	stop           chan struct{}
	stopOnce       sync.Once
	wg             sync.WaitGroup
}

// daily is a total at the last two midnights.
type daily struct{ today, yesterday int64 }

// New returns a service that counts at once and samples after Start.
func New(opts Options) (*Service, error) {
	s := &Service{
		opts: opts, bootMs: opts.Wire.NowMillis(),
		topics: make(map[string]*Topic), groups: make(map[string]*Group),
		stop: make(chan struct{}),
	}
	s.day = s.dayOf(s.bootMs)
	if err := s.register(); err != nil {
		return nil, err
	}
	return s, nil
}

// Start begins to take samples.
func (s *Service) Start() {
	s.wg.Add(1)
	go s.run()
}

// Close stops.
func (s *Service) Close() error {
	s.stopOnce.Do(func() { close(s.stop) })
	s.wg.Wait()
	return nil
}

// TopicCounters returns a topic's counters, which live until DeleteTopic. It does not
// allocate for a known topic.
func (s *Service) TopicCounters(topic []byte) *Topic {
	s.mu.RLock()
	t := s.topics[string(topic)]
	s.mu.RUnlock()
	if t != nil {
		return t
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t = s.topics[string(topic)]; t == nil {
		t = &Topic{service: s, system: systemTopic(string(topic))}
		s.topics[string(topic)] = t
	}
	return t
}

// GroupCounters returns a group's counters in a topic. It does not allocate for a known
// pair.
func (s *Service) GroupCounters(group, topic []byte) *Group {
	var stack [288]byte
	key := append(stack[:0], topic...)
	key = append(key, '@')
	key = append(key, group...)
	s.mu.RLock()
	g := s.groups[string(key)]
	s.mu.RUnlock()
	if g != nil {
		return g
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if g = s.groups[string(key)]; g == nil {
		g = &Group{service: s, system: systemTopic(string(topic))}
		s.groups[string(key)] = g
	}
	return g
}

// Missed counts a pull that found nothing.
func (s *Service) Missed() { s.missed.add(1) }

// PutFailed counts a put that the store refused.
func (s *Service) PutFailed() { s.putFailed.Add(1) }

// GotTook notes how long a look for messages took, in whatever queues, ms.
func (s *Service) GotTook(ms int64) {
	for {
		known := s.gotTookMax.Load()
		if ms <= known || s.gotTookMax.CompareAndSwap(known, ms) {
			return
		}
	}
}

// PutTPS is the messages put into a topic per second over the last minute.
func (s *Service) PutTPS(topic string) float64 {
	s.mu.RLock()
	t := s.topics[topic]
	s.mu.RUnlock()
	if t == nil {
		return 0
	}
	s.sampleMu.Lock()
	defer s.sampleMu.Unlock()
	return t.puts.minute.rate().TPS
}

// GotTPS is the messages a group got from a topic per second over the last minute.
func (s *Service) GotTPS(group, topic string) float64 {
	s.mu.RLock()
	g := s.groups[topic+"@"+group]
	s.mu.RUnlock()
	if g == nil {
		return 0
	}
	s.sampleMu.Lock()
	defer s.sampleMu.Unlock()
	return g.gots.minute.rate().TPS
}

// DeleteTopic forgets a topic's counters and its groups'.
func (s *Service) DeleteTopic(topic string) {
	s.forget(func(t, _ string) bool { return t == topic })
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.topics, topic)
}

// DeleteGroup forgets a group's counters.
func (s *Service) DeleteGroup(group string) {
	s.forget(func(_, g string) bool { return g == group })
}
