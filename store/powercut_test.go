package store_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// TestPowerCut_NothingAcknowledgedIsLost cuts the power at every sync point of seeded
// workloads, and of the recoveries from that, until WHEELMQ_CRASH_CLONES disks were checked.
func TestPowerCut_NothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	want := 400
	if text := os.Getenv("WHEELMQ_CRASH_CLONES"); text != "" {
		var err error
		if want, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for _, syncFlush := range []bool{true, false} {
		t.Run(fmt.Sprintf("sync flush %v", syncFlush), func(t *testing.T) {
			t.Parallel()
			var clones atomic.Int64
			seed := uint64(0)
			for ; clones.Load() < int64(want/2); seed++ {
				w := newWorkload(seed, syncFlush, &clones)
				if err := w.run(); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			t.Logf("%d disks of %d workloads", clones.Load(), seed)
		})
	}
}

// workload is a store on a memory disk, driven step by step, and what is known about it. At
// every sync point the power is cut on a clone, which must recover and go on.
type workload struct {
	ledger
	rng          *rand.Rand
	syncFlush    bool
	unitsPerFile int // units of a queue file
	clock        *clock.Virtual
	disk         *region.Memory
	plant        func(*region.Memory) region.FS // puts a planted bug before the disk, or nil
	group        store.Group
	even         bool // bodies of one size: new records begin where lost ones did
	eager        bool // planted: progress is saved before what it stands for
	s            *store.Store
	depth        int // power cuts that led here
	clones       *atomic.Int64

	midway bool  // inside a step that others put beside
	failed error // of a clone
}

// ledger is what survived earlier power cuts and what was put since.
type ledger struct {
	puts    []put // in the order of the log
	durable int   // puts that must survive: acknowledged (SYNC_FLUSH), or flushed
	epoch   uint64
	deleted map[string]int64 // topics, and where the log ended then
	// deleting is a topic whose deletion has begun and not ended.
	deleting   string
	deletingAt int64
	// expired is the offset below which the log is deleted, and expiring up to where it may be.
	expired, expiring int64
	delivered         []int // puts that are copies, by index; progress counts them
	progress          int   // saved
	// underway are the records of a group that is being put: the first of them may survive.
	underway []message.Record
}

type put struct {
	topic           string
	queueID         int32
	queueOffset, at int64 // its unit, its log offset
	size            int32
	body            []byte
	half            bool // has no unit
}

func (l ledger) clone() ledger {
	l.puts = l.puts[:len(l.puts):len(l.puts)]
	l.delivered = l.delivered[:len(l.delivered):len(l.delivered)]
	deleted := make(map[string]int64, len(l.deleted))
	maps.Copy(deleted, l.deleted)
	l.deleted = deleted
	return l
}

// steps of a workload that starts afresh, and of one that goes on after a power cut.
const (
	stepsFresh = 160
	stepsAfter = 12
	maxDepth   = 3
	evenBody   = 400 // bytes

	logFileBytes = 71 << 10
)

func newWorkload(seed uint64, syncFlush bool, clones *atomic.Int64) *workload {
	rng := rand.New(rand.NewPCG(seed, 1))
	return &workload{
		ledger: ledger{deleted: make(map[string]int64)}, rng: rng, syncFlush: syncFlush, unitsPerFile: 5 + rng.IntN(30),
		clock: clock.NewVirtual(1_000_000), disk: region.NewMemory(), clones: clones, even: seed%2 == 0,
	}
}

func (w *workload) options() store.Options {
	opts := options("")
	opts.FS, opts.Clock, opts.SyncFlush = w.disk, w.clock, w.syncFlush
	if w.plant != nil {
		opts.FS = w.plant(w.disk)
	}
	opts.MaxMessageSize = 6 << 10
	opts.CommitLogFileSize, opts.ConsumeQueueFileSize = logFileBytes, 20*w.unitsPerFile
	opts.MaxHashSlotNum, opts.MaxIndexNum = 16, 8*w.unitsPerFile
	return opts
}

func (w *workload) run() error {
	w.disk.OnSync(w.syncPoint)
	if err := w.open(); err != nil {
		return err
	}
	steps := stepsFresh
	if w.depth > 0 {
		steps = stepsAfter
	}
	for range steps {
		if err := w.step(); err != nil {
			return err
		}
	}
	if w.rng.IntN(3) == 0 {
		if err := w.cutPower(); err != nil {
			return err
		}
	}
	if err := w.reopen(); err != nil {
		return err
	}
	return errors.Join(w.s.Close(), w.failed)
}

// open recovers the disk and settles what survived. From then on it must not change.
func (w *workload) open() (err error) {
	if w.s, err = store.Open(w.options()); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if err := w.verify(); err != nil {
		return err
	}
	return w.failed
}

// reopen ends the store cleanly.
func (w *workload) reopen() error {
	if err := w.s.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	w.durable = len(w.puts)
	if err := w.open(); err != nil {
		return fmt.Errorf("after a clean end: %w", err)
	}
	return nil
}

// syncPoint cuts the power on a clone of the disk.
func (w *workload) syncPoint() {
	if w.failed != nil {
		return
	}
	if w.midway && w.rng.IntN(4) == 0 {
		w.midway = false
		w.failed = w.put()
		w.midway = true
	}
	if w.rng.IntN(6) == 0 {
		w.disk.WriteBack(w.rng)
	}
	if w.depth > 0 && w.rng.IntN(60*w.depth) != 0 {
		return
	}
	if err := w.cutPower(); err != nil {
		w.failed = err
	}
}

func (w *workload) cutPower() error {
	seed := w.rng.Uint64()
	w.observe()
	after := &workload{
		ledger: w.ledger.clone(), rng: rand.New(rand.NewPCG(seed, 2)), syncFlush: w.syncFlush, unitsPerFile: w.unitsPerFile,
		clock: clock.NewVirtual(w.clock.NowMillis()), plant: w.plant, eager: w.eager, even: w.even, depth: w.depth + 1, clones: w.clones,
	}
	after.disk = w.disk.PowerCut(after.rng)
	w.clones.Add(1)
	if after.depth > maxDepth {
		if err := after.open(); err != nil {
			return err
		}
		return after.s.Close()
	}
	if err := after.run(); err != nil {
		return fmt.Errorf("power cut %d: %w", after.depth, err)
	}
	return nil
}

// observe counts what is durable under ASYNC_FLUSH.
func (w *workload) observe() {
	if w.syncFlush || w.s == nil {
		return
	}
	for w.durable < len(w.puts) && w.puts[w.durable].end() <= w.s.FlushedOffset() {
		w.durable++
	}
}

func (p put) end() int64 { return p.at + int64(p.size) }

func (w *workload) step() error {
	w.clock.Set(w.clock.NowMillis() + int64(w.rng.IntN(50)))
	switch n := w.rng.IntN(100); {
	case n < 49:
		return w.put()
	case n < 55:
		return w.putGroup()
	case n < 62:
		return w.putBatch()
	case n < 68:
		return w.deliver()
	case n < 74:
		return w.saveProgress()
	case n < 78:
		return w.s.AheadStep()
	case n < 82:
		w.s.IndexStep()
		return w.s.Stats().IndexError
	case n < 92:
		return w.aside(w.commit)
	case n < 94:
		return w.expire()
	case n < 97:
		return w.aside(w.s.FlushStep)
	case n < 98:
		return w.deleteTopic()
	case n < 99:
		return w.reopen()
	default:
		w.disk.WriteBack(w.rng)
		return nil
	}
}

// aside runs a step of the store's goroutines; at its sync points others put.
func (w *workload) aside(step func() error) error {
	w.midway = true
	defer func() { w.midway = false }()
	return errors.Join(step(), w.failed)
}

func (w *workload) commit() error {
	if !w.syncFlush {
		return w.s.FlushLogStep()
	}
	w.s.CommitStep()
	return w.s.Writable()
}

const progressFile = "config/progress.json"

// saveProgress notes which copies need not be made again: those that are durable.
func (w *workload) saveProgress() error {
	n := w.progress
	for n < len(w.delivered) && (w.eager || w.puts[w.delivered[n]].end() <= w.s.FlushedOffset()) {
		n++
	}
	if err := w.options().FS.WriteFile(progressFile, []byte(strconv.Itoa(n))); err != nil {
		return err
	}
	w.progress = n
	return w.failed
}

// expire deletes the oldest log file.
func (w *workload) expire() error {
	w.expiring = w.s.MinCommitLogOffset() + logFileBytes
	w.s.ExpireStep()
	w.expired = w.s.MinCommitLogOffset()
	return errors.Join(w.s.Writable(), w.failed)
}

func (w *workload) deleteTopic() error {
	w.deleting, w.deletingAt = "A", w.s.MaxCommitLogOffset()
	if err := w.s.DeleteTopic(w.deleting); err != nil {
		return err
	}
	w.deleted[w.deleting], w.deleting = w.deletingAt, ""
	return w.failed
}
