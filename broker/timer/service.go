package timer

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
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
		// StoreTimestamp is when a unit's record was stored, ms, and false when it cannot be read.
		StoreTimestamp(q *store.ConsumeQueue, offset int64) (ms int64, ok bool)
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

// Service delivers due messages. It is made of parts with a job each; all of them work on one state,
// and are guarded by its lock.
type Service struct {
	opts Options

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // of the goroutines that Start makes

	state   state
	records records // of the timer queue
	parking parking

	intake     intake     // takes records out of the queue
	handover   handover   // between the real broker and this one
	sorter     sorter     // of far messages' files
	prefetcher prefetcher // of near messages' records
	loader     loader     // of what is due soon
	delivery   delivery   // of what is due
	driver     driver     // of all these
	looks      looks      // in files, without the lock
	changes    changes    // of what pends
	lister     lister     // of what pends
	pin        pin        // of the log
	saver      saver      // of checkpoints
	rates      rates
	lookout    lookout // for who must not wait
}

// New opens the Timelines and finds out what was delivered already. Nothing is delivered before
// Start.
func New(opts Options) (*Service, error) {
	s := &Service{opts: opts.withDefaults()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.assemble()
	if err := s.open(); err != nil {
		return nil, err
	}
	s.lookout.figures() // there are always last known ones
	if err := s.register(); err != nil {
		return nil, errors.Join(err, s.closeLines())
	}
	return s, nil
}

// withDefaults are the options with what was not given.
func (o Options) withDefaults() Options {
	if o.SaveMs <= 0 {
		o.SaveMs = saveMs
	}
	if o.PrecisionMs <= 0 {
		o.PrecisionMs = 1000
	}
	if o.OverdueMs == 0 {
		o.OverdueMs = defaultOverdueMs
	}
	return o
}

// Start begins to deliver, unless timerWheelEnable is off.
func (s *Service) Start() {
	if !s.opts.Enabled {
		if n := s.Count(); n > 0 {
			s.opts.Logger.WithField("messages", n).Warn("timerWheelEnable is false: pending timer messages are not delivered")
		}
		return
	}
	for _, run := range []func(){s.driver.run, s.delivery.putter.run, s.sorter.run, s.prefetcher.run, s.saver.run} {
		s.wg.Go(func() {
			// Files are mapped: who reads or writes one that was cut gets a panic, not the end of the process.
			debug.SetPanicOnFault(true)
			run()
		})
	}
}

// Save makes everything durable that is pending, and what is delivered.
func (s *Service) Save() error {
	if !s.opts.Enabled {
		return nil
	}
	return s.saver.save(false)
}
