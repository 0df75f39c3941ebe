package transaction

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// Group is the consumer group under which the progress of transactions is kept, as on the real
// broker: its offsets in the half and in the op topic.
const Group = "CID_RMQ_SYS_TRANS"

// never is an instant that does not come.
const never = clock.Never

var (
	group     = []byte(Group)
	topicHalf = []byte(message.TopicTransHalf)
	topicOp   = []byte(message.TopicTransOpHalf)
)

type (
	// Log is what the service needs of the store.
	Log interface {
		Queue(topic []byte, queueID int32) *store.ConsumeQueue
		Record(commitLogOffset int64, size int32) (store.Slice, error)
		Scan(from int64, fn func(*message.View) error) error
		MinCommitLogOffset() int64
		MaxCommitLogOffset() int64
		FlushedOffset() int64
		Flush() error
	}
	// Appender is the one door into the store.
	Appender interface {
		Put(rec *message.Record, origin appender.Origin, done store.Completion) (store.PutResult, bool, error)
	}
	// Topics knows which topics exist.
	Topics interface {
		Get(name []byte) *topic.Config
		CreateRetry(name string, queueNums, perm int32) *topic.Config
	}
	// Offsets keeps the progress of groups.
	Offsets interface {
		Query(group, topic []byte, queueID int32) int64
		CommitOwn(topic []byte, queueID int32, offset int64) offset.Taken
	}
	// Producers knows which producers are there.
	Producers interface {
		Producers(group string) []client.Member
	}
)

// Options are what a Service needs.
type Options struct {
	Times Times
	// CheckMax is how often a producer is asked before its message is given up (transactionCheckMax).
	CheckMax int
	// OpMaxSize bounds the body of an op record, bytes (transactionOpMsgMaxSize); OpDelayMs is how
	// long the end of a transaction waits for others to share a record with
	// (transactionOpBatchInterval).
	OpMaxSize int
	OpDelayMs int64
	// Virtual says that tests turn the clock of messages.
	Virtual    bool
	Broker     string // brokerName, told to producers
	StoreHost  netip.AddrPort
	Admission  *Admission
	Store      clock.Clock
	Wire       clock.Clock // paces what is written about ends
	Log        Log
	Appender   Appender
	Topics     Topics
	Offsets    Offsets
	Producers  Producers
	Stats      *stats.Service
	Logger     logrus.FieldLogger
	Metrics    prometheus.Registerer // may be nil
	Health     *health.Registry      // may be nil
	Difference *difference.Set
}

// Service keeps half messages. One goroutine asks producers about those that are open for long, and
// writes down which have ended; it sleeps until it has to.
type Service struct {
	opts  Options
	rules atomic.Pointer[rules]

	armedAt atomic.Int64 // the instant of message time that the driver sleeps until
	// opsArmed: the driver knows that ends wait to be written down.
	opsArmed atomic.Bool
	blocked  atomic.Pointer[string] // why nothing can be written down; nil: it can
	stop     chan struct{}
	wg       sync.WaitGroup

	driver  driver
	counts  counts
	writing sync.Mutex // one writes op records at a time

	mu       sync.Mutex // guards what follows
	ledger   ledger
	ending   map[int64]int64 // half message whose end is being stored: end of the log when that began
	ops      ops
	progress progress
}

// New returns a Service that knows what is open.
func New(opts Options) (*Service, error) {
	s := &Service{
		opts: opts, stop: make(chan struct{}), ending: make(map[int64]int64),
	}
	s.rules.Store(&rules{opts.Times, opts.CheckMax})
	s.counts.init()
	s.armedAt.Store(never)
	s.driver.s, s.driver.Driver = s, redeliver.NewDriver(s.stop)
	if err := s.takeStock(); err != nil {
		return nil, fmt.Errorf("transaction: %w", err)
	}
	return s, s.register()
}

// Start begins to ask.
func (s *Service) Start() {
	s.wg.Add(1)
	go s.driver.run()
}

// Close stops, and writes down what has ended.
func (s *Service) Close() error {
	close(s.stop)
	s.wg.Wait()
	return s.Save()
}

// Save writes down what has ended, and makes it durable.
func (s *Service) Save() error {
	if err := s.writeOps(); err != nil {
		return err
	}
	if err := s.opts.Log.Flush(); err != nil {
		return fmt.Errorf("transaction: %w", err)
	}
	s.saveProgress()
	return nil
}

// Arrived wakes the driver for a half message that is due before what it sleeps for. It is called
// for every record that becomes readable and must be quick.
func (s *Service) Arrived(a store.Arrival) {
	if a.Topic != message.TopicTransHalf {
		return
	}
	if armed := s.armedAt.Load(); armed == never || s.opts.Store.NowMillis()+s.opts.Admission.youngest.Load() < armed {
		s.driver.Wake()
	}
}

// Settle returns when all producers are asked that are to be asked now; next is the instant of
// message time, ms, at which the next one is; math.MaxInt64: never. It needs a service that was
// started.
func (s *Service) Settle(ctx context.Context) (next int64, err error) {
	next, err = s.driver.Settle(ctx)
	if err != nil {
		return 0, fmt.Errorf("transaction: settle: %w", err)
	}
	return next, nil
}

// Open is how many half messages are neither committed nor rolled back.
func (s *Service) Open() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrivals()
	return s.ledger.open
}

// Pinned is the log offset of the oldest open half message, and false when none is. The log must be
// kept from there on.
func (s *Service) Pinned() (commitLogOffset int64, open bool) {
	q := s.opts.Log.Queue(topicHalf, 0)
	if q == nil {
		return 0, false
	}
	s.mu.Lock()
	s.arrivals()
	head, n := s.ledger.head, s.ledger.open
	s.mu.Unlock()
	if n == 0 {
		return 0, false
	}
	u, ok := q.Unit(max(head, q.Min()))
	return u.CommitLogOffset, ok
}

// arrivals brings the ledger up to the end of the queue. s.mu is held.
func (s *Service) arrivals() {
	if q := s.opts.Log.Queue(topicHalf, 0); q != nil {
		s.ledger.grow(q.Max())
	}
}
