package timer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

const never = clock.Never

var topicTimer = []byte(message.TopicTimer)

type (
	// Log is what the service needs of the store.
	Log interface {
		Queue(topic []byte, queueID int32) *store.ConsumeQueue
		Record(commitLogOffset int64, size int32) (store.Slice, error)
		Fetch(from, to int64)
		MinCommitLogOffset() int64
		MaxCommitLogOffset() int64
		// Published is the log offset below which every record can be read.
		Published() int64
		FlushedOffset() int64
		Flush() error
		Scan(from int64, fn func(*message.View) error) error
		Epoch() uint64
	}
	// Appender is the one door into the store.
	Appender interface {
		Put(rec *message.Record, origin appender.Origin, done store.Completion) (store.PutResult, bool, error)
		Collect(g *store.Group, rec *message.Record, origin appender.Origin) (full bool, err error)
		PutGroup(g *store.Group, done store.Completion) (stored int, pending bool, err error)
	}
	// Parker takes messages that their target refuses for good.
	Parker interface {
		Park(rec *message.Record, service, reason string) error
	}
	// Topics knows which topics exist.
	Topics interface {
		Get(name []byte) *topic.Config
	}
	// Stall withholds due messages while a test wants that. Its methods must be quick.
	Stall interface {
		// Stalled is why due messages are withheld, e.g. "by fault rule f1"; "": they are not.
		Stalled() string
		// Withheld is told that something was due.
		Withheld()
	}
	// Traffic counts what is delivered, by topic and bytes.
	Traffic interface {
		Delivered(topic string, size int64)
	}
)

// Options are what a Service needs.
type Options struct {
	Enabled     bool  // timerWheelEnable
	PrecisionMs int64 // timerPrecisionMs, at most 1,000
	Store       clock.Clock
	Wire        clock.Clock // paces the checkpoints
	Log         Log
	FS          region.FS // of the store; the service keeps its files in timer/
	Appender    Appender
	Park        Parker
	Topics      Topics
	MaxDelayMs  int64 // how far ahead Reschedule may go (timerMaxDelaySec); 0: any distance
	SaveMs      int64 // between checkpoints while something changes; 0: 3,000
	Logger      logrus.FieldLogger
	Metrics     prometheus.Registerer // may be nil
	Health      *health.Registry      // may be nil
	Stall       Stall                 // may be nil
	Traffic     Traffic               // may be nil
	// OverdueMs is how late a message may be before health tells (delayOverdueThreshold), ms; 0: 2,000.
	OverdueMs int64
	// Hangs tells whether a watchdog has found that nothing is done about what is due; may be nil.
	Hangs       func() bool
	Differences *difference.Set // may be nil
	// Counted is told of copies of one topic that were appended, and of their bytes; it must be quick;
	// may be nil.
	Counted func(topic string, n, size int64)
	// InOrder delivers everything in the order of due instants, where otherwise each due second has
	// its turn, and answers Settle with exact instants.
	InOrder bool
	// First returns when what goes before timers that are due at the same instant is delivered. It
	// is asked with InOrder only; nil: nothing does.
	First func(ctx context.Context) error
}

// Service delivers due messages.
type Service struct {
	opts Options

	maxDelayMs atomic.Int64 // as Options.MaxDelayMs

	kick     chan struct{}
	settling redeliver.Settling
	stop     chan struct{}
	ctx      context.Context // ends with stop
	cancel   context.CancelFunc
	jobs     chan job // for the goroutine that splits and sorts
	// fetches are lists of records to be read ahead.
	fetches chan []place
	wg      sync.WaitGroup

	asleep     atomic.Bool  // an arrival must wake the driver
	passes     atomic.Int64 // of the driver
	soonUntil  atomic.Int64 // until when messages are expected that are due soon, ms of message time
	delivered  atomic.Int64
	cancelled  atomic.Int64
	unreadable atomic.Int64
	// unreadByLooks are records that nobody could read who looked at what pends.
	unreadByLooks atomic.Int64
	parked        atomic.Int64
	oldest        atomic.Int64 // log offset that must be kept; never: nothing is needed
	lateness      prometheus.Observer

	saver    saver
	handover handover // guarded by mu, like what follows

	looks sync.WaitGroup // pages that are being read; none begins when closed

	lookout lookout

	mu     sync.Mutex // guards what follows
	closed bool
	// searches look for messages in files just now.
	searches []*search
	worker   worker
	lines    [2]*line
	topics   topicCounts
	// queueOffset is the next unit of the timer queue to be taken in.
	queueOffset int64
	loaded      int   // entries in memory that are not on their way
	progress    int64 // changes whenever there is something to save
	known       sources
	taking      wait // of what is taken out of the queue
	aside       aside
	storing     wait // of all deliveries: the store refuses
	held        heldTopics
	inFlight    int // copies that are not known to be stored for good
	flights     []*flight
	damaged     int64 // seconds that were found damaged
	repairs     int   // seconds of which what is missing is looked for
	damagedThen int64 // entries that were found missing before the start
	reached     int64 // the last second of which something may be delivered
	// superseding are not delivered: what removes them is in the log.
	superseding superseding
	moved       moved
	half        int64 // log offset of a superseding record whose message is taken in, its removal not
	// rebuildTo is the unit of the timer queue up to which everything must be taken in before
	// anything is delivered: what was there when the service began.
	rebuildTo int64

	rates rates

	saves       int64 // checkpoints since the start
	savedAt     int64 // of the last one, ms of message time
	savedOffset int64 // queueOffset of the last checkpoint
	savedOldest int64 // log offset from which on the last checkpoint needs the log
	oldestNow   int64 // and from which on what pends does
	notedAt     int64 // progress at which it was looked up
}

// New opens the Timelines and finds out what was delivered already. Nothing is delivered before
// Start.
func New(opts Options) (*Service, error) {
	if opts.SaveMs <= 0 {
		opts.SaveMs = saveMs
	}
	if opts.PrecisionMs <= 0 {
		opts.PrecisionMs = 1000
	}
	if opts.OverdueMs == 0 {
		opts.OverdueMs = defaultOverdueMs
	}
	s := &Service{
		opts: opts, kick: make(chan struct{}, 1), settling: redeliver.NewSettling(), stop: make(chan struct{}),
		jobs: make(chan job, maxJobs), fetches: make(chan []place, maxPrefetches),
		superseding: make(superseding), moved: make(moved), half: nothing,
	}
	s.maxDelayMs.Store(opts.MaxDelayMs)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.worker.copy = redeliver.NewCopier(opts.Log, opts.Topics, message.TopicTimer)
	s.worker.putter.init()
	s.topics.init()
	s.held.init()
	s.saver.s = s
	s.handover.done = sync.NewCond(&s.mu)
	s.oldest.Store(never)
	if err := s.open(); err != nil {
		return nil, err
	}
	s.figures() // there are always last known ones
	if err := s.register(); err != nil {
		s.closeLines()
		return nil, err
	}
	return s, nil
}

// Start begins to deliver, unless timerWheelEnable is off.
func (s *Service) Start() {
	if !s.opts.Enabled {
		if n := s.Count(); n > 0 {
			s.opts.Logger.WithField("messages", n).Warn("timerWheelEnable is false: pending timer messages are not delivered")
		}
		return
	}
	s.wg.Add(5)
	go s.drive()
	go s.runPutter()
	go s.runJobs()
	go s.runPrefetch()
	go s.saver.run()
}

// Save makes everything durable that is pending, and what is delivered.
func (s *Service) Save() error {
	if !s.opts.Enabled {
		return nil
	}
	return s.saver.save(false)
}

// Close stops and saves.
func (s *Service) Close() error {
	close(s.stop)
	s.cancel()
	s.wg.Wait()
	err := s.Save()
	back := err == nil && s.nothingPends()
	if errors.Is(err, region.ErrNoSpace) {
		// It is told by the save. Nothing is lost: the start after it reads more of the queue.
		err = nil
	}
	err = errors.Join(err, s.closeLines())
	s.lookout.close()
	if err == nil && back {
		err = s.handBack()
	}
	return err
}

func (s *Service) closeLines() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.looks.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed error
	for _, l := range s.lines {
		if l == nil {
			continue
		}
		for _, sec := range l.loaded {
			sec.close()
		}
		l.loaded = nil
		l.giveUp()
		if err := l.t.Close(); err != nil {
			failed = fmt.Errorf("timer: close %s: %w", l.name, err)
		}
	}
	return failed
}

// Arrived wakes the driver when a pending record has come. It is called for every record that
// becomes readable and must be quick.
func (s *Service) Arrived(a store.Arrival) {
	if a.Topic == message.TopicTimer && s.asleep.Load() && s.asleep.CompareAndSwap(true, false) {
		s.wake()
	}
}

// Recheck looks at Options.Stall again.
func (s *Service) Recheck() { s.wake() }

func (s *Service) wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// Delivered is how many messages came due since the start: delivered, parked or lost.
func (s *Service) Delivered() int64 { return s.delivered.Load() }

// Pinned is the log offset of the first record that is needed from the log, and false when none
// is. The log must be kept from there on.
func (s *Service) Pinned() (commitLogOffset int64, pending bool) {
	at := s.oldest.Load()
	return at, at != never
}
