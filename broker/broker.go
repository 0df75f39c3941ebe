package broker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/assignment"
	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/inflight"
	"github.com/wheelmq/wheelmq/broker/lock"
	"github.com/wheelmq/wheelmq/broker/longpoll"
	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/park"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/broker/rewind"
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/broker/transaction"
	"github.com/wheelmq/wheelmq/broker/virtualtime"
	"github.com/wheelmq/wheelmq/broker/watchdog"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/fault"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// Options are what a Broker needs.
type Options struct {
	Config      *config.Config
	Memory      *region.Memory  // holds the store instead of the directory of Config; nil: the directory
	StoreHost   netip.AddrPort  // address in message ids
	Store, Wire clock.Clock     // time of messages; time of the wire
	Before      []remoting.Step // steps before the handlers of clients' requests
	Log         logrus.FieldLogger
	Metrics     prometheus.Registerer
	Health      *health.Registry
	Differences *difference.Set
	// Routes is what all brokers have of a topic, as far as name servers know; nil: there are no others.
	Routes func(topic string) []remoting.QueueData
	// Waiting is how many requests of a class wait for a worker; nil: none ever does.
	Waiting func(remoting.Class) int
	Faults  *fault.Rules // nil: a broker that nobody breaks on purpose
	// ExpireFiles lets log files go when they are expired under a virtual clock too, where
	// otherwise nothing goes but on request.
	ExpireFiles bool
	// TrackInFlight lets InFlight know what consumers have not finished with. With a virtual clock
	// it does in any case.
	TrackInFlight bool
	// OnStep is told what New is doing, in words, whenever that changes; nil: nobody is told.
	OnStep func(string)
	// Rewound is what clients may remember of a state that a test has taken the store back from.
	Rewound *rewind.Memory
}

// Broker is one broker without its sockets.
type Broker struct {
	opts   Options
	live   *config.Live
	levels *schedule.LevelTable
	// virtual is the clock of messages when that is one that tests turn, else nil.
	virtual *clock.Virtual

	store    *store.Store
	topics   *topic.Table
	groups   *subscription.Table
	clients  *client.Registry
	offsets  *offset.Table
	locks    *lock.Table
	verdicts filter.Verdicts
	modes    *assignment.Modes
	polls    *longpoll.Service
	stats    *stats.Service
	rpc      *stats.RPC
	appender *appender.Appender
	park     *park.Service
	schedule *schedule.Service
	send     *processor.Send
	pull     *processor.Pull
	popping  *processor.Pop
	timers   *timer.Admission
	timer    *timer.Service
	watchdog *watchdog.Watchdog
	halves   *transaction.Service
	pops     *pop.Service
	inFlight *inflight.Tracker   // may be nil
	time     *virtualtime.Engine // nil with a real clock
	router   *remoting.Router
	own      *remoting.Router // for calls of this process

	backups backups
	tree    *region.Killable // nil but for tests
	killed  atomic.Bool
	closers []func() error // in the order of starting
}

// New opens the store and assembles the services. Nothing runs before Start; Close is due in
// any case.
func New(opts Options) (*Broker, error) {
	b := &Broker{opts: opts}
	b.virtual, _ = opts.Store.(*clock.Virtual)
	b.openConfig()
	levels, err := schedule.ParseLevels(b.opts.Config.MessageDelayLevel)
	if err != nil {
		return nil, err
	}
	b.levels = schedule.NewLevelTable(levels)
	if err := b.openStore(); err != nil {
		return nil, err
	}
	b.closers = append(b.closers, b.store.Close)
	if err := b.assemble(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	b.restoreTables()
	b.adoptTopics()
	return b, nil
}

func (b *Broker) openStore() (err error) {
	c := b.opts.Config
	keep, err := retention(c)
	if err != nil {
		return err
	}
	keep.Keep = b.keepsFiles()
	b.store, err = store.Open(b.breakable(store.Options{
		Dir: c.StorePathRootDir, Memory: b.opts.Memory, CommitLogFileSize: int(c.MappedFileSizeCommitLog),
		ConsumeQueueFileSize: int(c.MappedFileSizeConsumeQueue), MaxMessageSize: int(c.MaxMessageSize),
		SyncFlush: c.FlushDiskType == "SYNC_FLUSH", FlushIntervalMs: c.FlushIntervalCommitLog, StoreHost: b.opts.StoreHost,
		MessageIndexDisabled: !c.MessageIndexEnable, MaxHashSlotNum: int(c.MaxHashSlotNum), MaxIndexNum: int(c.MaxIndexNum),
		MaxMsgsNumBatch: int(c.MaxMsgsNumBatch),
		FlushThoroughMs: c.FlushCommitLogThoroughInterval, SyncFlushTimeoutMs: c.SyncFlushTimeout,
		Retention: keep, Pin: b.oldestPending, BeforeDelete: b.carryParked, Wire: b.opts.Wire, Virtual: b.virtual != nil,
		Clock: b.opts.Store, TagsCode: schedule.TagsCode, StoredTagsCode: b.levels.TagsCode, OnArrival: b.arrived,
		Examine: b.examine, OnStep: b.opts.OnStep, Log: b.opts.Log.WithField("part", "store"),
	}))
	return err
}

// arrived hands on that a record became readable; the listeners only look and signal.
func (b *Broker) arrived(a store.Arrival) {
	b.polls.Arrived(a)
	b.schedule.Arrived(a)
	b.timer.Arrived(a)
	b.halves.Arrived(a)
	b.pops.Arrived(a)
	b.mayBeDue(a)
}

// settleLevels returns when the delay levels have delivered what is due: they go before timers.
func (b *Broker) settleLevels(ctx context.Context) error {
	_, err := b.schedule.Settle(ctx)
	return err
}

func (b *Broker) queueEnd(topic string, queueID int32) int64 {
	if q := b.store.Queue([]byte(topic), queueID); q != nil {
		return q.Max()
	}
	return 0
}

// subscribed tells whether a group is online with a topic.
func (b *Broker) subscribed(group, topicName string) bool {
	online := b.clients.Group([]byte(group))
	return online != nil && online.Subscription([]byte(topicName)) != nil
}

func (b *Broker) parked() int64 {
	if q := b.store.Queue([]byte(message.TopicParked), 0); q != nil {
		return q.Max() - q.Min()
	}
	return 0
}

// Observer hears of every request that clients make.
func (b *Broker) Observer() remoting.Observer { return b.rpc }

// Router leads requests to their handlers.
func (b *Broker) Router() *remoting.Router { return b.router }

// LastTimestamp is the youngest store timestamp, ms; 0 in an empty store.
func (b *Broker) LastTimestamp() int64 { return b.store.LastTimestamp() }

// NowMillis is message time, ms since the Unix epoch.
func (b *Broker) NowMillis() int64 { return b.opts.Store.NowMillis() }

// Topics is the topic table, for registrations.
func (b *Broker) Topics() *topic.Table { return b.topics }

// ConnClosed forgets a client whose connection is gone.
func (b *Broker) ConnClosed(conn remoting.Conn) {
	b.polls.ConnClosed(conn.ID())
	b.clients.ConnClosed(conn)
	if b.inFlight != nil {
		b.inFlight.ConnClosed(conn.ID())
	}
}

// EnsureRetryTopic creates the retry topic of a group at the first query for its route, so
// that a new group's first retry does not wait for the client's next look at the routes.
func (b *Broker) EnsureRetryTopic(name string) bool {
	group, derived := topic.GroupOf(name)
	if !derived || !b.live.Get().AutoCreateSubscriptionGroup || name != message.PrefixRetry+group ||
		!b.opts.Differences.Use(difference.RetryRouteAtFirstQuery) {
		return false
	}
	config := b.groups.Find([]byte(group))
	if config == nil || topic.ValidateName(name) != nil {
		return false
	}
	return b.topics.CreateRetry(name, max(1, config.RetryQueueNums), topic.PermRead|topic.PermWrite) != nil
}

// StopHolding answers the pulls that wait for messages, ahead of a stop, and notes who is to come
// back after it.
func (b *Broker) StopHolding() {
	b.clients.Leave()
	b.polls.StopHolding()
}

// Start runs the services.
func (b *Broker) Start() error {
	if err := b.store.Start(); err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	// Its last look ends once the services are closed, ahead of the store.
	b.closers = append(b.closers, b.watchdog.Wait)
	for _, s := range []interface {
		Start()
		Close() error
	}{b.stats, b.offsets, b.clients, b.polls, b.schedule, b.timer, b.halves, b.pops, b.watchdog} {
		s.Start()
		b.closers = append(b.closers, s.Close)
	}
	b.obeyFaults()
	b.startTime()
	return nil
}

// Save makes everything durable that is acknowledged, and the progress of consumers and delays.
func (b *Broker) Save() error {
	return errors.Join(b.offsets.Save(), b.schedule.Save(), b.timer.Save(), b.halves.Save(), b.pops.Save(), b.store.Flush())
}

// Close stops the services in the reverse of their order; the store is last.
func (b *Broker) Close() error {
	var all []error
	for i := len(b.closers) - 1; i >= 0; i-- {
		all = append(all, b.closers[i]())
	}
	b.closers = nil
	return errors.Join(all...)
}
