package schedule

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// defaultOverdueMs is Options.OverdueMs when it is not given.
const defaultOverdueMs = 2000

var topicSchedule = []byte(message.TopicSchedule)

type (
	// Log is what the service needs of the store.
	Log interface {
		Queue(topic []byte, queueID int32) *store.ConsumeQueue
		Queues(topic string) []*store.ConsumeQueue
		Record(commitLogOffset int64, size int32) (store.Slice, error)
		MaxCommitLogOffset() int64
		FlushedOffset() int64
		Flush() error
		Scan(from int64, fn func(*message.View) error) error
		Epoch() uint64
	}
	// Appender is the one door into the store.
	Appender interface {
		Put(rec *message.Record, origin appender.Origin, done store.Completion) (store.PutResult, bool, error)
	}
	// Parker takes messages that their target refuses for good.
	Parker interface {
		Park(rec *message.Record, service, reason string) error
	}
	// Topics knows which topics exist.
	Topics interface {
		Get(name []byte) *topic.Config
	}
)

// Options are what a Service needs.
type Options struct {
	Levels   *LevelTable
	Enabled  bool // scheduleMessageEnable
	Store    clock.Clock
	Wire     clock.Clock // paces the saves
	Log      Log
	Appender Appender
	Park     Parker
	Topics   Topics
	Config   persist.Dir // of delayOffset.json; nil keeps offsets to the service
	// SaveMs is the time between saves of changed offsets, ms (flushDelayOffsetInterval); 0 and
	// more than 500 count as 500.
	SaveMs int64
	// Window is how many messages of a level may be appended and not yet durable
	// (scheduleAsyncDeliverMaxPendingLimit); 0: a batch is durable before the next.
	Window int
	// ResendsToBlocked is how often a copy is refused before its level counts as blocked
	// (scheduleAsyncDeliverMaxResendNum2Blocked).
	ResendsToBlocked int
	Wheel            logrus.FieldLogger
	Metrics          prometheus.Registerer // may be nil
	Health           *health.Registry      // may be nil
	Stall            Stall                 // may be nil
	// OverdueMs is how late a message may be before health tells (delayOverdueThreshold), ms; 0: 2,000.
	OverdueMs int64
	// Hangs tells whether a watchdog has found that nothing is done about what is due; may be nil.
	Hangs func() bool
	// Counted is told of every copy that was appended: its topic, the queue it waited in, its bytes; may
	// be nil.
	Counted func(topic string, queueID int32, size int64)
	// Differences counts the batches that were delivered on time; may be nil.
	Differences *difference.Set
	// InOrder delivers across all levels in the order of due instants; what is due at the same
	// millisecond by level, and within a level as it arrived. A level then waits for others:
	// without it each has its turn.
	InOrder bool
}

// Service delivers due messages. One goroutine serves all levels: it sleeps until the next due
// instant or an earlier arrival, delivers at most a batch of each level in turn, and leaves a
// level whose target refuses alone until its time to try again.
type Service struct {
	opts Options

	saveMs     atomic.Int64 // between saves of offsets
	delivered  atomic.Int64
	passes     atomic.Int64 // of the driver
	unreadable atomic.Int64
	armedAt    atomic.Int64 // the instant the driver sleeps until
	stop       chan struct{}
	driver     redeliver.Driver
	wg         sync.WaitGroup

	levels []*level // by number
	file   *offsetFile
	worker worker
	topics topicCounts

	mu       sync.Mutex       // guards what follows, and the levels' backlogs and flights
	progress int64            // changes whenever a backlog does
	blocked  map[int64]string // why a level waits
}

// New returns a Service that knows what is pending: the offsets that were saved, the order of
// what lies behind them, and the copies that were made since.
func New(opts Options) (*Service, error) {
	s := &Service{
		opts: opts, stop: make(chan struct{}), blocked: make(map[int64]string),
	}
	s.driver = redeliver.NewDriver(s.stop)
	if s.opts.OverdueMs == 0 {
		s.opts.OverdueMs = defaultOverdueMs
	}
	s.armedAt.Store(never)
	s.SaveEvery(opts.SaveMs)
	s.topics.init()
	s.worker.s, s.worker.copy = s, redeliver.NewCopier(opts.Log, opts.Topics, message.TopicSchedule, opts.Differences)
	s.listLevels()
	s.file = newOffsetFile(s)
	copiesFrom := s.file.load()
	for _, l := range s.levels {
		l.backlog.exact = opts.InOrder
		if err := s.worker.takeStock(l); err != nil {
			return nil, err
		}
	}
	s.recognise(copiesFrom)
	for _, l := range s.levels {
		l.backlog.sweep()
		l.counted = l.backlog.lowest()
		if q := opts.Log.Queue(topicSchedule, l.queueID); q != nil {
			s.worker.heads(l, q)
		}
		if n := l.backlog.count(); n > 0 && l.number > int64(len(opts.Levels.Get())) {
			opts.Wheel.WithFields(logrus.Fields{"level": l.number, "levels": len(opts.Levels.Get()), "messages": n}).
				Warn("a delay level that messageDelayLevel no longer has holds messages: they are delivered when they are due")
		}
	}
	return s, s.register()
}

// SaveEvery changes the time between saves of offsets, ms; 0 and more than maxSaveMs are maxSaveMs.
func (s *Service) SaveEvery(ms int64) {
	if ms <= 0 {
		ms = maxSaveMs
	}
	s.saveMs.Store(min(ms, maxSaveMs))
}

// listLevels makes the levels that the table has or may get, and those that it lost but whose queues
// are there: what pends in them is served like the rest.
func (s *Service) listLevels() {
	served := s.opts.Levels.Room()
	for i := range served {
		s.levels = append(s.levels, &level{number: int64(i + 1), queueID: int32(i)})
	}
	for _, q := range s.opts.Log.Queues(message.TopicSchedule) {
		if int(q.QueueID()) < served {
			continue
		}
		s.levels = append(s.levels, &level{number: int64(q.QueueID()) + 1, queueID: q.QueueID()})
	}
}

// takeStock brings a level's backlog up to the end of its queue.
func (w *worker) takeStock(l *level) error {
	q := w.s.opts.Log.Queue(topicSchedule, l.queueID)
	if q == nil {
		return nil
	}
	if err := w.scan(l, q, math.MaxInt); err != nil {
		return fmt.Errorf("schedule: level %d: %w", l.number, err)
	}
	return nil
}

// Start begins to deliver, unless scheduleMessageEnable is off.
func (s *Service) Start() {
	if !s.opts.Enabled {
		s.opts.Wheel.Warn("scheduleMessageEnable is false: delayed messages are refused, retries wait")
		return
	}
	s.wg.Add(2)
	go s.drive()
	go s.file.run()
}

// Save makes what is delivered, and that it is, durable now.
func (s *Service) Save() error { return s.file.saveNow() }

// Close stops and saves the offsets.
func (s *Service) Close() error {
	close(s.stop)
	s.wg.Wait()
	return s.file.saveNow()
}

// Arrived wakes the driver when a record is due before what it sleeps for. It is called for
// every record that becomes readable and must be quick.
func (s *Service) Arrived(a store.Arrival) {
	if a.Topic != message.TopicSchedule || a.Unit.TagsCode >= s.armedAt.Load() {
		return
	}
	s.wake()
}

func (s *Service) wake() { s.driver.Wake() }
