package schedule

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

var topicSchedule = []byte(message.TopicSchedule)

type (
	// Log is what the service needs of the store.
	Log interface {
		Queue(topic []byte, queueID int32) *store.ConsumeQueue
		Record(commitLogOffset int64, size int32) (store.Slice, error)
		MaxCommitLogOffset() int64
		FlushedOffset() int64
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
	Levels    Levels
	Enabled   bool // scheduleMessageEnable
	Store     clock.Clock
	Wire      clock.Clock // paces the saves
	Log       Log
	Appender  Appender
	Park      Parker
	Topics    Topics
	ConfigDir string // directory of delayOffset.json; "" keeps offsets in memory
	Wheel     logrus.FieldLogger
	Metrics   prometheus.Registerer // may be nil
	Health    *health.Registry      // may be nil
	// Differences counts the batches that were delivered on time; may be nil.
	Differences *difference.Set
}

// Service delivers due messages. One goroutine serves all levels: it sleeps until the next due
// instant or an earlier arrival, delivers at most a batch of each level in turn, and leaves a
// level whose target refuses alone until its time to try again.
type Service struct {
	opts Options

	offsets    []atomic.Int64 // next unit of each level
	lateness   []prometheus.Observer
	delivered  atomic.Int64
	unreadable atomic.Int64
	armedAt    atomic.Int64 // the instant the driver sleeps until
	kick       chan struct{}
	stop       chan struct{}
	wg         sync.WaitGroup

	mu      sync.Mutex // guards blocked
	blocked map[int64]string

	file *offsetFile
}

// New returns a Service with the offsets that were saved.
func New(opts Options) (*Service, error) {
	s := &Service{
		opts: opts, offsets: make([]atomic.Int64, len(opts.Levels)), kick: make(chan struct{}, 1),
		stop: make(chan struct{}), blocked: make(map[int64]string),
	}
	s.armedAt.Store(never)
	s.file = newOffsetFile(s)
	s.file.load()
	return s, s.register()
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

// Close stops and saves the offsets.
func (s *Service) Close() error {
	close(s.stop)
	s.wg.Wait()
	return s.file.save()
}

// Arrived wakes the driver when a record is due before what it sleeps for. It is called for
// every record that becomes readable and must be quick.
func (s *Service) Arrived(a store.Arrival) {
	if a.Topic != message.TopicSchedule || a.TagsCode >= s.armedAt.Load() {
		return
	}
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

func (s *Service) drive() {
	defer s.wg.Done()
	levels := make([]level, len(s.opts.Levels))
	for i := range levels {
		levels[i] = level{number: int64(i + 1), queueID: int32(i)}
	}
	w := &worker{s: s}
	timer := s.opts.Store.NewTimer()
	defer timer.Disarm()
	for {
		// Nothing that arrives from here on is missed: it is due before never.
		s.armedAt.Store(never)
		now := s.opts.Store.NowMillis()
		next := never
		for i := range levels {
			next = min(next, w.run(&levels[i], now))
		}
		s.armedAt.Store(next)
		if next <= now {
			select {
			case <-s.stop:
				return
			default:
				continue
			}
		}
		if next < never {
			timer.Arm(next)
		} else {
			timer.Disarm()
		}
		select {
		case <-timer.C():
		case <-s.kick:
		case <-s.stop:
			return
		}
	}
}

// clampOffset corrects an offset that its queue does not have: one that was saved ahead of the
// data, or data that was deleted.
func (s *Service) clampOffset(level int64, q *store.ConsumeQueue) int64 {
	var lowest, highest int64
	if q != nil {
		lowest, highest = q.Min(), q.Max()
	}
	offset := s.offsets[level-1].Load()
	clamped := min(max(offset, lowest), highest)
	if clamped != offset {
		s.opts.Wheel.WithFields(logrus.Fields{"level": level, "offset": offset, "min": lowest, "max": highest}).
			Warn("the offset of a delay level is outside of its queue and corrected")
		s.offsets[level-1].Store(clamped)
	}
	return clamped
}

// note remembers why a level waits, for the health check, and logs it when it is new.
func (s *Service) note(l *level, err error) {
	s.mu.Lock()
	_, known := s.blocked[l.number]
	s.blocked[l.number] = err.Error()
	s.mu.Unlock()
	if !known {
		s.opts.Wheel.WithError(err).WithField("level", l.number).Warn("a delay level waits: its target refuses")
	}
}

func (s *Service) unblock(l *level) {
	s.mu.Lock()
	delete(s.blocked, l.number)
	s.mu.Unlock()
	s.opts.Wheel.WithField("level", l.number).Info("a delay level goes on")
}

// LevelOffset is a level's progress, units of its queue.
type LevelOffset struct{ Level, Delivered, Max int64 }

// Offsets returns the progress of every level that has had a message.
func (s *Service) Offsets() []LevelOffset {
	var list []LevelOffset
	for i := range s.offsets {
		if q := s.opts.Log.Queue(topicSchedule, int32(i)); q != nil {
			list = append(list, LevelOffset{Level: int64(i + 1), Delivered: s.offsets[i].Load(), Max: q.Max()})
		}
	}
	return list
}

// lag is how many messages of a level are past due, looked up by binary search.
func (s *Service) lag(i int) int64 {
	q := s.opts.Log.Queue(topicSchedule, int32(i))
	if q == nil {
		return 0
	}
	now := s.opts.Store.NowMillis()
	from := max(s.offsets[i].Load(), q.Min())
	lo, hi := from, q.Max()
	for lo < hi {
		mid := lo + (hi-lo)/2
		if u, ok := q.Unit(mid); ok && u.TagsCode <= now {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - from
}

func (s *Service) check() health.Result {
	if !s.opts.Enabled {
		return health.Result{State: health.Degraded,
			Reason: "scheduleMessageEnable is false: delayed messages are refused and retries wait"}
	}
	if n := s.unreadable.Load(); n > 0 {
		return health.Result{State: health.Degraded, Reason: fmt.Sprintf("%d pending delayed messages could not be read", n)}
	}
	for i := range s.offsets {
		if n := s.lag(i); n > 0 && s.overdue(i) > overdueMs {
			return health.Result{State: health.Degraded,
				Reason: fmt.Sprintf("delay level %d has %d messages past due%s", i+1, n, s.why(int64(i+1)))}
		}
	}
	return health.Result{State: health.Up}
}

// overdueMs is how late a level may be before health tells.
const overdueMs = 2000

// overdue is how long the head of a level has been past due, ms.
func (s *Service) overdue(i int) int64 {
	q := s.opts.Log.Queue(topicSchedule, int32(i))
	if q == nil {
		return 0
	}
	u, ok := q.Unit(max(s.offsets[i].Load(), q.Min()))
	if !ok {
		return 0
	}
	return max(0, s.opts.Store.NowMillis()-u.TagsCode)
}

func (s *Service) why(number int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reason := s.blocked[number]; reason != "" {
		return ": " + reason
	}
	return ""
}
