package pop

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// never is an instant that does not come.
const never = int64(math.MaxInt64)

type (
	// Log is what the service needs of the store.
	Log interface {
		Queue(topic []byte, queueID int32) *store.ConsumeQueue
		Record(commitLogOffset int64, size int32) (store.Slice, error)
		Epoch() uint64
	}
	// Appender is the one door into the store.
	Appender interface {
		Put(rec *message.Record, origin appender.Origin, done store.Completion) (store.PutResult, bool, error)
	}
	// Topics makes the topics for what was not acknowledged.
	Topics interface {
		CreateRetry(name string, queueNums, perm int32) *topic.Config
	}
	// Groups knows how often a group takes a message again.
	Groups interface {
		Find(name []byte) *subscription.Config
	}
	// Offsets shows how far groups are.
	Offsets interface {
		Query(group, topic []byte, queueID int32) int64
		Commit(group, topic []byte, queueID int32, offset int64) offset.Taken
		Resetting() bool
		FollowReset(group, topic string, queueID int32)
	}
	// Parker keeps what no topic takes.
	Parker interface {
		Park(rec *message.Record, service, reason string) error
	}
)

// Options are what a Service needs.
type Options struct {
	// RetryV2 is enableRetryTopicV2: what was not acknowledged goes to %RETRY%group+topic.
	RetryV2 bool
	// Visible is told of a queue that is popped in order and may be popped from again. It must be
	// quick, and is called with locks held.
	Visible func(Key)
	// Due is told that something is due before everything else. It must be quick; nil: nobody is.
	Due       func()
	StoreHost netip.AddrPort
	Store     clock.Clock
	Wire      clock.Clock
	Log       Log
	Appender  Appender
	Topics    Topics
	Groups    Groups
	Offsets   Offsets
	Park      Parker
	Logger    logrus.FieldLogger
	Metrics   prometheus.Registerer // may be nil
	Health    *health.Registry      // may be nil

	Differences *difference.Set
}

// Service knows what is in flight. One goroutine brings back what was not acknowledged in time; it
// sleeps until it has to.
type Service struct {
	opts Options

	mu      sync.RWMutex // guards what follows
	windows map[Key]*Window
	byID    []*Window // nil: gone

	inFlight atomic.Int64 // handed out, not in order
	agenda   agenda
	armedAt  atomic.Int64 // the instant of message time that the driver sleeps until
	kick     chan struct{}
	settling redeliver.Settling
	stop     chan struct{}
	wg       sync.WaitGroup
	driver   driver
	counts   counts
}

// New returns a Service in which nothing is in flight.
func New(opts Options) (*Service, error) {
	s := &Service{
		opts: opts, windows: make(map[Key]*Window), kick: make(chan struct{}, 1), settling: redeliver.NewSettling(),
		stop: make(chan struct{}),
	}
	s.armedAt.Store(never)
	s.driver.init(s)
	return s, s.register()
}

// Start begins to bring back what is not acknowledged in time.
func (s *Service) Start() {
	s.wg.Add(1)
	go s.driver.run()
}

// Close stops.
func (s *Service) Close() error {
	close(s.stop)
	s.wg.Wait()
	return nil
}

// Settle returns when everything that is visible again is in its retry topic; next is the instant of
// message time, ms, at which the next message may be; math.MaxInt64: never. It needs a service that
// was started.
func (s *Service) Settle(ctx context.Context) (next int64, err error) {
	next, err = s.settling.Wait(ctx, s.stop)
	if err != nil {
		return 0, fmt.Errorf("pop: settle: %w", err)
	}
	return next, nil
}

// look has the driver look at something when it is due.
func (s *Service) look(t task) {
	n := s.agenda.push(t)
	if t.due < s.armedAt.Load() || n >= sweepFrom && n&(sweepFrom-1) == 0 {
		s.wake()
		if s.opts.Due != nil {
			s.opts.Due()
		}
	}
}

func (s *Service) wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

func (s *Service) visible(k Key) {
	if s.opts.Visible != nil {
		s.opts.Visible(k)
	}
}

// find returns a window that exists, or nil.
func (s *Service) find(k Key) *Window {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.windows[k]
}

func (s *Service) window(k Key) *Window {
	if w := s.find(k); w != nil {
		return w
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.windows[k]
	if w == nil {
		w = &Window{
			s: s, key: k, group: []byte(k.Group), topic: []byte(k.Topic), id: uint32(len(s.byID)), cursor: offset.None, shown: offset.None,
		}
		s.windows[k] = w
		s.byID = append(s.byID, w)
	}
	return w
}

// at returns the window of a task, nil: it is gone.
func (s *Service) at(id uint32) *Window {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byID[id]
}

// DeleteTopic forgets what is in flight of a topic.
func (s *Service) DeleteTopic(name string) { s.delete(func(k *Key) bool { return k.Topic == name }) }

// DeleteGroup forgets what is in flight to a group.
func (s *Service) DeleteGroup(name string) { s.delete(func(k *Key) bool { return k.Group == name }) }

func (s *Service) delete(match func(*Key) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, w := range s.windows {
		if match(&k) {
			delete(s.windows, k)
			s.byID[w.id] = nil
			w.mu.Lock()
			s.inFlight.Add(-w.held.n)
			w.gone, w.held, w.block = true, held{}, nil
			w.mu.Unlock()
		}
	}
}
