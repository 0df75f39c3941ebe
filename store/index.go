package store

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

const (
	indexDir = "index"
	// indexStep is how far the log grows before the builder is woken at once, and how much of
	// it is indexed under one lock, bytes. Less than that waits for the flusher's next round,
	// or for a query.
	indexStep = 256 << 10
	// indexFarBehind is from where on nobody waits for the builder, bytes: it is rebuilding.
	indexFarBehind = 64 << 20
)

// index finds records by their keys. One goroutine, the builder, follows the published log
// and writes; queries read. The send path pays for a wake-up now and then.
//
// Locks: io before mu. mu is held over at most one batch or one chain of a query.
type index struct {
	log      *commitLog
	fs       region.FS
	clock    clock.Clock
	logger   logrus.FieldLogger
	geometry indexGeometry // of new files
	// full tells that the disk's rest is left to the broker's own records.
	full func() bool

	io    sync.Mutex   // serializes syncing and deleting files
	mu    sync.RWMutex // guards files and what they hold
	files []*indexFile // ascending in time and log offset; only the last may not be full

	built  atomic.Int64          // every record below this log offset is in the index, bytes
	asked  atomic.Int64          // the builder was woken for everything below, bytes
	wake   chan struct{}         // the builder has work
	stuck  atomic.Pointer[error] // why the builder does not go on until it is woken again
	failed atomic.Pointer[error] // why nothing more is written before the next start

	// progress is signalled after every batch; alive is guarded by its lock.
	progress *sync.Cond
	alive    bool // the builder works, or will when woken

	// What follows belongs to the builder.
	cursor logCursor
	hashes []uint32
	put    int // hashes of the record at built that are in already
	topic  []byte
	prefix int32 // Java hash of topic and '#'
	rolled bool  // a file is full that may not be durable

	unnamed atomic.Bool // the name of a file may not be durable
}

// indexMark names what of the index is durable: every record below Offset is in it, by units
// of the last file below Next and by the files before.
type indexMark struct {
	File   string `json:"file,omitempty"` // "" when there is none
	Slots  uint32 `json:"slots,omitempty"`
	Units  uint32 `json:"units,omitempty"`
	Next   uint32 `json:"next,omitempty"`
	Offset int64  `json:"offset"`
	Files  int    `json:"files,omitempty"` // their number: fewer mean that one is missing, or that retention took it
}

func newIndex(log *commitLog, fs region.FS, opts *Options, full func() bool) *index {
	return &index{
		full: full, log: log, fs: fs, clock: opts.Clock, logger: opts.Log, wake: make(chan struct{}, 1), progress: sync.NewCond(&sync.Mutex{}),
		geometry: indexGeometry{slots: uint32(opts.MaxHashSlotNum), units: uint32(opts.MaxIndexNum)},
		cursor:   logCursor{log: log},
	}
}

// offer tells how far the log is published. It is cheap, since every put calls it.
func (ix *index) offer(end int64) {
	if end-ix.asked.Load() >= indexStep {
		ix.ask(end)
	}
}

// ask wakes the builder unless everything below end is in the index.
func (ix *index) ask(end int64) {
	if end <= ix.built.Load() {
		return
	}
	ix.asked.Store(end)
	select {
	case ix.wake <- struct{}{}:
	default:
	}
}

// run is the builder. published says how far the log may be read.
func (ix *index) run(published func() int64, stop <-chan struct{}) {
	for {
		select {
		case <-ix.wake:
			ix.build(published, stop)
		case <-stop:
			ix.running(false)
			return
		}
	}
}

// running says whether the builder works, or will when woken.
func (ix *index) running(on bool) {
	ix.progress.L.Lock()
	ix.alive = on
	ix.progress.L.Unlock()
	ix.progress.Broadcast()
}

// build goes on until the index has caught up with the log, or cannot go on, which it says.
func (ix *index) build(published func() int64, stop <-chan struct{}) {
	report := progressReport{ix: ix, started: ix.clock.NowMillis()}
	defer report.done()
	defer ix.cursor.leave()
	for end := published(); ix.built.Load() < end && ix.failed.Load() == nil; end = published() {
		select {
		case <-stop:
			return
		default:
		}
		err := ix.batch(end)
		if err == nil {
			err = ix.syncFull()
		}
		ix.note(err)
		ix.running(true)
		if err != nil {
			return
		}
		report.tell(end)
	}
}

// note keeps why the builder does not go on. It tries again when woken.
func (ix *index) note(err error) {
	if err == nil {
		ix.stuck.Store(nil)
		return
	}
	err = fmt.Errorf("store: the index stands still: %w", err)
	if ix.stuck.Swap(&err) == nil {
		ix.logger.WithError(err).WithField("offset", ix.built.Load()).Error("messages from here on are not found by key")
	}
}

// progressReport says how a long rebuild goes on.
type progressReport struct {
	ix            *index
	started, last int64 // ms; last 0: nothing said
}

// tell logs a line a second while the end of the log is far.
func (r *progressReport) tell(end int64) {
	built, now := r.ix.built.Load(), r.ix.clock.NowMillis()
	if end-built < indexFarBehind || now-max(r.started, r.last) < 1000 {
		return
	}
	r.last = now
	r.ix.logger.WithFields(logrus.Fields{"built": built, "end": end}).Info("the index is being built")
}

func (r *progressReport) done() {
	if r.last > 0 {
		r.ix.logger.WithFields(logrus.Fields{"built": r.ix.built.Load(), "took": r.ix.clock.NowMillis() - r.started}).
			Info("the index is built")
	}
}

// fail ends the writing: after a failed sync nobody knows what is on disk. The next start
// goes on from what is known.
func (ix *index) fail(err error) { ix.failed.CompareAndSwap(nil, &err) }

// err is why the index does not follow the log, or nil.
func (ix *index) err() error {
	for _, p := range []*atomic.Pointer[error]{&ix.failed, &ix.stuck} {
		if err := p.Load(); err != nil {
			return *err
		}
	}
	return nil
}

// batch indexes what the log holds below end, up to a step of it.
func (ix *index) batch(end int64) (err error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	at := ix.built.Load()
	ix.cursor.at = at
	for stop := min(at+indexStep, end); ix.cursor.at < stop; {
		if !ix.cursor.next(end) {
			if ix.cursor.at < end {
				err = fmt.Errorf("the log cannot be read at %d", ix.cursor.at)
			}
			break
		}
		if ix.cursor.view.CommitLogOffset != at {
			// Retention may have taken the record that could not be finished.
			ix.put = 0
		}
		if err = ix.add(&ix.cursor.view); err != nil {
			ix.cursor.at = ix.cursor.view.CommitLogOffset
			break
		}
		ix.put = 0
	}
	ix.publish(ix.cursor.at)
	return err
}

// publish writes the header of the last file and notes what is built. Caller holds mu.
func (ix *index) publish(built int64) {
	if last := ix.last(); last != nil && last.dirty {
		last.writeHeader()
	}
	ix.built.Store(built)
}

func (ix *index) last() *indexFile {
	if len(ix.files) == 0 {
		return nil
	}
	return ix.files[len(ix.files)-1]
}

// add puts a record's keys. After an error the keys that are in already are skipped when it
// is tried again. Caller holds mu.
func (ix *index) add(v *message.View) error {
	ix.hashKeys(v)
	for ; ix.put < len(ix.hashes); ix.put++ {
		f := ix.last()
		if f == nil || f.full() {
			var err error
			if f, err = ix.roll(); err != nil {
				return err
			}
		}
		if f.lacksSpace(f.head.next) {
			if err := ix.reserve(f); err != nil {
				return err
			}
		}
		f.put(ix.hashes[ix.put], v.CommitLogOffset, v.StoreTimestamp)
	}
	return nil
}

// errDiskFull is why the index does not take what is left of a full disk.
var errDiskFull = fmt.Errorf("the disk is full: %w", region.ErrNoSpace)

// reserve puts disk space behind the unit that is written next.
func (ix *index) reserve(f *indexFile) error {
	if ix.full() {
		return errDiskFull
	}
	return f.reserve(f.head.next)
}

// hashKeys collects the hashes of a record's keys: topic#UNIQ_KEY, topic#k for every one of
// KEYS, topic#T#TAGS. A rolled back record of a transaction has none.
func (ix *index) hashKeys(v *message.View) {
	ix.hashes = ix.hashes[:0]
	if v.SysFlag&message.SysFlagTransactionMask == message.SysFlagRollback {
		return
	}
	keys := message.PropertyIndexKeys(v.Properties)
	if ix.topic == nil || string(ix.topic) != string(v.Topic) {
		ix.topic = append(ix.topic[:0], v.Topic...)
		ix.prefix = message.JavaHash(message.JavaHash(0, v.Topic), []byte{'#'})
	}
	if len(keys.UniqKey) > 0 {
		ix.hashes = append(ix.hashes, indexHash(message.JavaHash(ix.prefix, keys.UniqKey)))
	}
	for key, rest := message.NextKey(keys.Keys); len(key) > 0; key, rest = message.NextKey(rest) {
		ix.hashes = append(ix.hashes, indexHash(message.JavaHash(ix.prefix, key)))
	}
	if len(keys.Tags) > 0 {
		ix.hashes = append(ix.hashes, indexHash(message.JavaHash(tagsPrefix(ix.prefix), keys.Tags)))
	}
}

// tagsPrefix continues the hash of topic and '#' with what stands before tags.
func tagsPrefix(prefix int32) int32 { return message.JavaHash(prefix, []byte{'T', '#'}) }

// close unmaps the files. The builder has ended.
func (ix *index) close() {
	ix.io.Lock()
	defer ix.io.Unlock()
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for _, f := range ix.files {
		f.close()
	}
	ix.files = nil
}

// close unmaps the file; find finds nothing in it any more.
func (f *indexFile) close() {
	if f.closed {
		return
	}
	f.closed = true
	f.head = indexHeader{next: 1}
	f.b = nil
	// Unmapping a valid mapping fails only by a programmer's error; nothing is lost.
	_ = f.region.Close()
}
