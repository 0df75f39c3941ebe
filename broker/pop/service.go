package pop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/pop/journal"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// never is an instant that does not come.
const never = clock.Never

type (
	// Log is what the service needs of the store.
	Log interface {
		Queue(topic []byte, queueID int32) *store.ConsumeQueue
		Record(commitLogOffset int64, size int32) (store.Slice, error)
		Scan(from int64, fn func(*message.View) error) error
		MaxCommitLogOffset() int64
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
		FollowReset(group, topic string, queueID int32) bool
		Save() error
	}
	// Parker keeps what no topic takes.
	Parker interface {
		Park(rec *message.Record, service, reason string) error
	}
)

// Options are what a Service needs.
type Options struct {
	Settings
	// Visible is told of a queue that may be popped from again: what was popped in order is over, or less
	// is in flight than MaxInFlight. It must be quick, and is called with locks held.
	Visible func(Key)
	// Due is told that something is due before everything else. It must be quick; nil: nobody is.
	Due       func()
	StoreHost netip.AddrPort
	Store     clock.Clock
	Wire      clock.Clock // paces the journal
	// Cluster names the real broker's revive topic, whose records are taken over.
	Cluster string
	// Config is where the real broker's OrderFile is; it is taken over and removed. nil: there is none.
	Config persist.Dir
	FS     region.FS // the tree that the journal lies in, under pop/
	Sync   bool      // pops and acknowledgements are answered when they are durable (SYNC_FLUSH)
	// JournalFileSize is the size of the journal's files, bytes; 0: 4 MiB.
	JournalFileSize int
	Log             Log
	Appender        Appender
	Topics          Topics
	Groups          Groups
	Offsets         Offsets
	Park            Parker
	Logger          logrus.FieldLogger
	Metrics         prometheus.Registerer // may be nil
	Health          *health.Registry      // may be nil

	Differences *difference.Set
}

// Settings are keys that may change while the server runs.
type Settings struct {
	// RetryV2 is enableRetryTopicV2: what was not acknowledged goes to %RETRY%group+topic.
	RetryV2 bool
	// MaxInFlight is how many messages of a queue may be in flight to a group for it to be given more; 0: any.
	MaxInFlight int64
}

// Service knows what is in flight. One goroutine brings back what was not acknowledged in time; it
// sleeps until it has to.
type Service struct {
	opts     Options
	settings atomic.Pointer[Settings]

	mu      sync.RWMutex // guards what follows
	windows map[Key]*Window
	byID    []*Window // nil: gone

	journal  *journal.Journal
	copying  sync.Mutex // held while a copy is put: a deletion waits, so that none makes a retry topic anew behind it
	live     [ring]atomic.Int64
	inFlight atomic.Int64 // handed out, not in order
	agenda   agenda
	armedAt  atomic.Int64 // the instant of message time that the driver sleeps until
	stop     chan struct{}
	wg       sync.WaitGroup
	driver   driver
	foreign  foreign
	counts   counts
	damage   string // what of the journal could not be read at the start
}

// New returns a Service that knows what was in flight.
func New(opts Options) (*Service, error) {
	s := &Service{
		opts: opts, windows: make(map[Key]*Window), stop: make(chan struct{}),
	}
	s.settings.Store(&opts.Settings)
	s.armedAt.Store(never)
	s.driver.init(s)
	s.foreign.init(s)
	s.journal = journal.Open(journal.Options{
		FS: opts.FS, Dir: journalDir, FileSize: opts.JournalFileSize, Epoch: opts.Log.Epoch(), Sync: opts.Sync, Wire: opts.Wire,
		Log: opts.Logger, Keeper: keeper{s: s, offsets: make([]int64, 0, maxKept)},
	})
	if err := s.recover(); err != nil {
		return nil, fmt.Errorf("pop: %w", err)
	}
	return s, s.register()
}

// Set changes the settings. When that changes anything, whoever waits for a queue looks at it again: it may give more now.
func (s *Service) Set(settings Settings) {
	if *s.settings.Swap(&settings) == settings {
		return
	}
	for _, w := range s.all() {
		if w != nil {
			s.visible(w.key)
		}
	}
}

// journalDir is where the journal lies in the store's tree.
const journalDir = "pop"

// Start begins to bring back what is not acknowledged in time.
func (s *Service) Start() {
	s.journal.Start()
	s.wg.Add(1)
	go s.driver.run()
}

// Close stops, and makes durable what is in flight. The consumer offsets are saved first: behind the end
// of the journal a lower one is a reset, and no file that was left behind.
func (s *Service) Close() error {
	close(s.stop)
	s.wg.Wait()
	unsaved, end := s.opts.Offsets.Save(), s.journal.Close
	if unsaved != nil {
		end = s.journal.Leave
	}
	if err := errors.Join(unsaved, end()); err != nil {
		return fmt.Errorf("pop: %w", err)
	}
	return nil
}

// Save makes durable what is in flight. Whoever makes a cursor durable does so first: a cursor that is
// past a message says that somebody knows of it.
func (s *Service) Save() error {
	if err := s.journal.Sync(); err != nil {
		return fmt.Errorf("pop: %w", err)
	}
	return nil
}

// Settle returns when everything that is visible again is in its retry topic; next is the instant of
// message time, ms, at which the next message may be; math.MaxInt64: never. It needs a service that
// was started.
func (s *Service) Settle(ctx context.Context) (next int64, err error) {
	next, err = s.driver.Settle(ctx)
	if err != nil {
		return 0, fmt.Errorf("pop: settle: %w", err)
	}
	return next, nil
}

// look has the driver look at something when it is due.
func (s *Service) look(t task) {
	n := s.agenda.push(t)
	if t.due < s.armedAt.Load() || n >= sweepFrom && n&(sweepFrom-1) == 0 {
		s.driver.Wake()
		if s.opts.Due != nil {
			s.opts.Due()
		}
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
		w = s.add(k, uint32(len(s.byID)))
	}
	return w
}

// add makes a window. s.mu is held.
func (s *Service) add(k Key, id uint32) *Window {
	w := &Window{s: s, key: k, group: []byte(k.Group), topic: []byte(k.Topic), id: id, cursor: offset.None, shown: offset.None}
	s.declare(w)
	for int(id) >= len(s.byID) {
		s.byID = append(s.byID, nil)
	}
	s.windows[k], s.byID[id] = w, w
	return w
}

// all returns the windows, in the order of their numbers.
func (s *Service) all() []*Window {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]*Window, 0, len(s.windows))
	for _, w := range s.byID {
		if w != nil {
			all = append(all, w)
		}
	}
	return all
}

// at returns the window of a task, nil: it is gone.
func (s *Service) at(id uint32) *Window {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if int(id) >= len(s.byID) {
		return nil
	}
	return s.byID[id]
}

// DeleteTopic forgets what is in flight of a topic.
func (s *Service) DeleteTopic(name string) { s.delete(func(k *Key) bool { return k.Topic == name }) }

// DeleteGroup forgets what is in flight to a group.
func (s *Service) DeleteGroup(name string) { s.delete(func(k *Key) bool { return k.Group == name }) }

func (s *Service) delete(match func(*Key) bool) {
	s.copying.Lock()
	defer s.copying.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, w := range s.windows {
		if match(&k) {
			s.drop(w)
		}
	}
}

// forgotten tells whether a window's topic or group was deleted.
func (w *Window) forgotten() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone
}

// drop forgets a window. s.mu is held.
func (s *Service) drop(w *Window) {
	delete(s.windows, w.key)
	s.byID[w.id] = nil
	w.mu.Lock()
	defer w.mu.Unlock()
	w.record.begin(w.id)
	if _, _, err := w.write(recordDropped, true); err != nil {
		s.opts.Logger.WithError(err).WithField("topic", w.key.Topic).Error("what was in flight of a deleted topic or group is forgotten until the next start only")
	}
	w.held.each(0, math.MaxInt64, func(_ int64, e *entry) bool {
		s.tells(e.file, -1)
		s.driver.settled(e)
		return true
	})
	s.inFlight.Add(-w.held.n)
	w.gone, w.held, w.block = true, held{}, nil
}
