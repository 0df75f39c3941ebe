package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/store/region"
)

// Store is a store directory in use. It implements Log.
type Store struct {
	opts   Options
	fs     region.FS
	lock   *dirLock
	budget *budget
	log    *commitLog
	queues *queueTable
	index  *index
	meta   meta
	// progress is that of Open.
	progress *progress

	mu        sync.Mutex // the append lock: guards what follows up to published, and queues' next
	lastStamp int64      // ms
	pending   []waiting  // SYNC_FLUSH: appended, not durable
	failing   bool       // the last append found no room: said once
	closed    bool

	published    atomic.Int64 // every record below this log offset is in its queue, bytes
	checkpointed atomic.Int64 // log and queues are durable below, bytes

	deleting       sync.Mutex // makes deletions of topics take turns; held longer than flushMu
	flushMu        sync.Mutex // serializes checkpoints
	indexFullUntil int64      // the checkpoint's index timestamp, ms; guarded by flushMu
	committing     []waiting  // the group commit's other half of pending

	lateMu   sync.Mutex // guards underWay, and done of its elements
	underWay []waiting  // SYNC_FLUSH: what the group commit is making durable
	watch    chan struct{}
	watching atomic.Bool
	timeouts atomic.Int64

	keep    atomic.Pointer[Retention]
	broken  atomic.Pointer[error]  // why nothing more is accepted
	full    atomic.Pointer[string] // why clients' records are refused, or nil
	pinned  atomic.Pointer[Pin]    // what keeps the oldest log file beyond its time, or nil
	manual  atomic.Bool            // DeleteExpired was called
	reserve *reserve
	spaceMu sync.Mutex    // serializes looks at the disk
	clean   chan struct{} // the disk is to be looked at

	maxBody atomic.Int64 // the largest body that clients may send, bytes
	puts    atomic.Int64
	putSize atomic.Int64

	wake   chan struct{} // the group commit has work
	dirty  chan struct{} // the flusher has work
	asleep atomic.Bool   // the flusher waits for dirty
	stop   chan struct{}
	wg     sync.WaitGroup
}

// waiting is a record whose publication waits for the group commit.
type waiting struct {
	queue  *ConsumeQueue
	unit   Unit
	offset int64
	done   Completion // told with result after the last record of a put
	result PutResult
	// deadline is when done is told FLUSH_DISK_TIMEOUT, ms of the wire.
	deadline int64
}

var errClosed = errors.New("store: closed")

// Open locks, checks and recovers a store directory, or makes a new one.
func Open(opts Options) (*Store, error) {
	if err := opts.setDefaults(); err != nil {
		return nil, err
	}
	s := &Store{
		opts: opts, stop: make(chan struct{}),
		wake: make(chan struct{}, 1), dirty: make(chan struct{}, 1), clean: make(chan struct{}, 1), watch: make(chan struct{}, 1),
	}
	s.keep.Store(&opts.Retention)
	s.maxBody.Store(int64(opts.MaxMessageSize))
	switch {
	case opts.FS != nil:
		s.fs = opts.FS
	case opts.Memory != nil:
		s.fs = opts.Memory
	default:
		s.fs = region.OS{Root: opts.Dir}
	}
	if err := s.refuse(); err != nil {
		return nil, err
	}
	if opts.FS == nil && opts.Memory == nil {
		lock, err := lockDir(opts.Dir)
		if err != nil {
			return nil, err
		}
		s.lock = lock
	}
	if opts.Wrap != nil {
		s.fs = opts.Wrap(s.fs)
	}
	if err := s.openSafely(); err != nil {
		s.closeFiles()
		return nil, err
	}
	return s, nil
}

// openSafely makes an error of a page that cannot be read: on a full memory disk (tmpfs) even
// reading a hole of a file takes space.
func (s *Store) openSafely() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			fault := FaultOf(p)
			err = fmt.Errorf("store: in %s, %s cannot be read: %w", s.opts.Dir, s.budget.holder(fault), fault)
		}
	}()
	return s.open()
}

func (s *Store) open() error {
	s.progress = newProgress(&s.opts)
	s.budget = newBudget(s.opts.MappedFiles)
	s.log = newCommitLog(s.fs, s.budget, s.opts.CommitLogFileSize)
	s.queues = newQueueTable(s.fs, s.budget, s.opts.ConsumeQueueFileSize)
	if err := s.loadMeta(); err != nil {
		return err
	}
	if err := s.log.load(s.meta.CommitLogFileSize); err != nil {
		return err
	}
	var err error
	if s.reserve, err = openReserve(s.fs, s.log.fileSize); err != nil {
		return err
	}
	if err := s.queues.load(s.wasClosed(), s.meta.ConsumeQueueFileSize, s.progress); err != nil {
		return err
	}
	if err := s.recover(); err != nil {
		return err
	}
	s.progress.begin(stepIndex, 0)
	if err := s.openIndex(); err != nil {
		return err
	}
	s.progress.begin(stepSettle, 0)
	return s.markRunning()
}

// Start begins to flush and to index.
func (s *Store) Start() error {
	// Before anybody can fill the disk. The disk's keeper tells when it fails.
	s.noSpace(s.reserve.fill())
	s.startIndex()
	loops := []func(){s.aheadLoop, s.cleanLoop, s.flushLoop}
	if s.opts.SyncFlush {
		loops = append(loops, s.commitLoop, s.watchLoop)
	}
	for _, loop := range loops {
		s.run(loop)
	}
	return nil
}

// run starts a goroutine of the store. A page that cannot be read or written ends it, and the
// store takes nothing more.
func (s *Store) run(loop func()) {
	s.wg.Go(func() {
		debug.SetPanicOnFault(true)
		defer func() { s.afterFault(recover()) }()
		loop()
	})
}

// Close flushes everything, notes the clean end and lets go of the directory.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	close(s.stop)
	s.wg.Wait()
	s.deleting.Lock()
	defer s.deleting.Unlock()
	if s.opts.SyncFlush {
		s.commit()
	}
	err := s.Writable()
	if err == nil {
		s.finishIndex()
		err = s.flush()
	}
	if err == nil {
		err = s.markStopped()
	}
	s.closeFiles()
	return err
}

func (s *Store) closeFiles() {
	if s.index != nil {
		s.index.close()
	}
	if s.queues != nil {
		for _, q := range s.queues.all() {
			q.close()
		}
	}
	if s.log != nil {
		s.log.close()
	}
	if s.lock != nil {
		s.lock.unlock()
	}
}

// Queue implements Log.
func (s *Store) Queue(topic []byte, queueID int32) *ConsumeQueue {
	return s.queues.find(topic, queueID)
}

// Queues returns a topic's queues that exist, ordered by number.
func (s *Store) Queues(topic string) []*ConsumeQueue {
	return s.queues.of(topic)
}

// MinCommitLogOffset implements Log.
func (s *Store) MinCommitLogOffset() int64 { return s.log.min() }

// MaxCommitLogOffset implements Log.
func (s *Store) MaxCommitLogOffset() int64 { return s.log.end.Load() }

// LastTimestamp is the youngest store timestamp, ms; 0 in an empty store.
func (s *Store) LastTimestamp() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastStamp
}

// Published is the log offset below which everything is readable, bytes: under SYNC_FLUSH what is
// behind it is not durable yet.
func (s *Store) Published() int64 { return s.published.Load() }

// FlushedOffset is the log offset below which everything is durable, bytes.
func (s *Store) FlushedOffset() int64 { return s.log.flushed.Load() }

// Epoch implements Log.
func (s *Store) Epoch() uint64 { return s.meta.Epoch }

// FS is the tree that the store lies in: what belongs to its messages is kept beside them, under
// names of its own.
func (s *Store) FS() region.FS { return s.fs }

// Stats are a store's totals since its start and its state.
type Stats struct {
	Puts, PutBytes int64
	MaxOffset      int64 // end of the log, bytes
	FlushedOffset  int64 // durable below, bytes
	DirtyBytes     int64 // of the log, not yet durable
	Syncs          int64 // of the log, since the start: one system call each
	FlushError     error // why the store is not writable, or nil
	IndexBehind    int64 // bytes of the log that are not indexed yet
	IndexError     error // why the index does not follow the log, or nil
	FlushTimeouts  int64 // puts answered with FLUSH_DISK_TIMEOUT
	// DiskFull is why clients' records are refused for want of space, or "".
	DiskFull     string
	DiskRatio    float64 // used part of the disk, 0 to 1
	ReserveBytes int64   // what is left for the broker's own records beside the spare log file
	MappedFiles  int
	// Pinned is what keeps the oldest log file beyond its time, or nil.
	Pinned *Pin
}

// Stats returns totals and state.
func (s *Store) Stats() Stats {
	flushed, end := s.log.flushed.Load(), s.log.end.Load()
	space, err := s.fs.Space()
	if err != nil {
		space = region.Space{}
	}
	return Stats{
		DiskFull: s.fullReason(), DiskRatio: space.Ratio(), ReserveBytes: s.reserve.left(), MappedFiles: s.budget.count(), Pinned: s.pinned.Load(),
		FlushTimeouts: s.timeouts.Load(), Syncs: s.log.syncs.Load(),
		Puts: s.puts.Load(), PutBytes: s.putSize.Load(),
		MaxOffset: end, FlushedOffset: flushed, DirtyBytes: max(0, end-flushed), FlushError: s.Writable(),
		IndexBehind: s.indexBehind(), IndexError: s.index.err(),
	}
}

func (s *Store) closing() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// Writable is nil while the store accepts records, and otherwise says why it does not. A full
// disk is told by Stats.
func (s *Store) Writable() error {
	if err := s.broken.Load(); err != nil {
		return *err
	}
	return nil
}

func newEpoch() uint64 { return rand.Uint64() >> 1 }
