package journal

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/store/region"
)

const (
	defaultFileSize = 4 << 20
	defaultFlushMs  = 500
	retryMs         = 1000 // from a file that could not be made, or emptied, to the next attempt
)

// Kinds of records from here on are the journal's own.
const firstOwn = 0xF0

const kindMark = firstOwn

// ErrClosed is returned to those who append after the end.
var ErrClosed = errors.New("journal: closed")

// Keeper is whose state the journal keeps.
type Keeper interface {
	// Keep appends anew what a record of a file says and is still true.
	Keep(file uint32, kind byte, payload []byte) error
	// KeepRest appends anew what else is told by a file and is still true.
	KeepRest(file uint32) error
	// Idle tells that Keep has nothing to do for any record of a file.
	Idle(file uint32) bool
	// Size is about how large the journal of what is true would be, bytes.
	Size() int64
	// Note is a number of the keeper's own, that Replay returns; it belongs to all records before it.
	Note() int64
}

// Options are what a Journal needs.
type Options struct {
	FS       region.FS
	Dir      string
	FileSize int    // bytes; 0: 4 MiB
	Epoch    uint64 // of the store that it belongs to
	// Sync makes Wait wait until what was appended is durable; otherwise it is durable FlushMs later.
	Sync    bool
	FlushMs int64 // 0: 500
	Wire    clock.Clock
	Log     logrus.FieldLogger
	Keeper  Keeper
}

// Subject is what records are about. Its declaration precedes them in every file. Its user guards it.
type Subject struct {
	Kind        byte
	Declaration []byte
	file        uint32 // that has the declaration
}

// Journal is the journal. Its methods are safe for concurrent use after Replay.
type Journal struct {
	opts Options

	mu      sync.Mutex // guards what follows
	files   []*file    // the last one is written to
	sealed  bool       // it is not: what comes next begins a file
	spare   *file      // has disk space, and no header
	making  bool       // the keeper makes one
	made    *sync.Cond // it does not any more
	dirty   bool       // something is not synced, and the syncer knows
	closed  bool
	anew    uint32 // files below are damaged, or beside damaged ones: they are emptied whatever there is; 0: none
	waiting []waiter

	keepMu  sync.Mutex // held while files are made and emptied
	syncMu  sync.Mutex // one syncs at a time
	synced  atomic.Int64
	durable place // guarded by syncMu

	full    atomic.Pointer[error] // why there is no spare
	failed  atomic.Pointer[error] // why nothing is synced
	kick    chan struct{}         // the syncer's
	keep    chan struct{}         // the keeper's
	stop    chan struct{}
	started sync.WaitGroup
}

type waiter struct {
	end  int64
	done func(error)
}

// current is the last file; nil: there is none.
func (j *Journal) current() *file {
	if len(j.files) == 0 {
		return nil
	}
	return j.files[len(j.files)-1]
}

// Append appends a record and returns the number of its file, and the place of its end, for Wait. It
// is refused on a full disk, unless it is urgent: room is kept for such records.
func (j *Journal) Append(s *Subject, kind byte, payload []byte, urgent bool) (file uint32, end int64, err error) {
	if n := len(payload) + len(s.Declaration) + 2*recordHead; len(payload) > maxPayload || n > j.opts.FileSize-headerSize {
		return 0, 0, fmt.Errorf("journal: a record of %d bytes is too large", len(payload))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return 0, 0, ErrClosed
	}
	f, err := j.room(s, len(payload), urgent)
	if err != nil {
		return 0, 0, err
	}
	if f.number != s.file {
		f.write(s.Kind, s.Declaration)
		s.file = f.number
	}
	f.write(kind, payload)
	j.changed()
	return f.number, f.base + int64(f.end), nil
}

// room returns the file that a record of n bytes about a subject is written to. j.mu is held, and
// may not be for a while.
func (j *Journal) room(s *Subject, n int, urgent bool) (*file, error) {
	for {
		f := j.current()
		fits := !j.sealed && (f.number == s.file || f.fits(recordHead+len(s.Declaration)+n)) && f.fits(n)
		switch {
		case fits && (urgent || j.spare != nil || f.end < len(f.b)/2):
			return f, nil
		case j.making:
			j.made.Wait()
		case fits: // without a spare, the rest of the file is for urgent records
			if err := j.addSpare(); err != nil {
				return nil, err
			}
		default:
			if _, err := j.roll(); err != nil {
				return nil, err
			}
		}
	}
}

// addSpare makes the file that is written to next. j.mu is held.
func (j *Journal) addSpare() error {
	f, err := j.create(j.number())
	j.spared(f, err)
	return err
}

// spared notes that there is a spare, or why there is none. j.mu is held.
func (j *Journal) spared(f *file, err error) {
	if err != nil {
		if j.full.Swap(&err) == nil {
			j.opts.Log.WithError(err).Error("the pop journal has no room: pops are refused until it has")
		}
		return
	}
	j.spare = f
	j.full.Store(nil)
}

// changed lets the syncer know that there is something to sync. j.mu is held.
func (j *Journal) changed() {
	if !j.dirty {
		j.dirty = true
		signal(j.kick)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// roll begins the next file. j.mu is held, and nobody is making a spare.
func (j *Journal) roll() (*file, error) {
	if j.spare == nil {
		if err := j.addSpare(); err != nil {
			return nil, err
		}
	}
	next, last := j.spare, j.current()
	j.begin(next, last)
	if last == nil {
		// No other file will tell that this one was there, should its header be lost.
		if err := next.region.Sync(0, headerSize); err != nil {
			j.files = j.files[:0]
			return nil, fmt.Errorf("journal: %w", err)
		}
	}
	j.spare, j.sealed = nil, false
	signal(j.keep)
	return next, nil
}

// number is that of the next file. j.mu is held.
func (j *Journal) number() uint32 {
	if last := j.current(); last != nil {
		return max(j.anew, last.number+1)
	}
	return max(j.anew, 1)
}

// begin makes a file the one that is written to. j.mu is held.
func (j *Journal) begin(next, last *file) {
	h := header{number: next.number, oldest: next.number, epoch: j.opts.Epoch, note: j.opts.Keeper.Note()}
	if last != nil {
		h.oldest, h.before = j.files[0].number, uint32(last.end)
		next.base = last.base + int64(last.end)
	}
	if last != nil && last.synced == last.end {
		h.durable = place{last.number, uint32(last.end)}
	}
	h.write(next.b)
	next.end = headerSize
	j.files = append(j.files, next)
}

// create makes a file, with space behind it and a durable name.
func (j *Journal) create(number uint32) (*file, error) {
	name := nameOf(j.opts.Dir, number)
	if err := j.opts.FS.Remove(name); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	r, err := j.opts.FS.Open(name, j.opts.FileSize)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f := &file{number: number, region: r, b: r.Bytes(), crc: seed(number)}
	if err = r.Reserve(0, len(f.b)); err == nil {
		r.Blank(0, len(f.b))
		err = errors.Join(r.Sync(0, headerSize), j.opts.FS.SyncDir(j.opts.Dir))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal: %w", err), r.Close(), j.opts.FS.Remove(name))
	}
	return f, nil
}

// Wait tells whether who appended a record that ends at a place has to wait: done is called when it
// is durable, or with the reason why it is not.
func (j *Journal) Wait(end int64, done func(error)) (pending bool) {
	if !j.opts.Sync || done == nil || j.synced.Load() >= end {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.synced.Load() >= end {
		return false
	}
	j.waiting = append(j.waiting, waiter{end, done})
	signal(j.kick)
	return true
}

// Files is how many files there are.
func (j *Journal) Files() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.files)
}

// Trouble is why changes are refused, or not durable; nil: all is well.
func (j *Journal) Trouble() error {
	for _, why := range [...]*atomic.Pointer[error]{&j.failed, &j.full} {
		if err := why.Load(); err != nil {
			return *err
		}
	}
	return nil
}

const never = int64(math.MaxInt64)
