package schedule

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

const (
	// fileName is the real broker's.
	fileName = "delayOffset.json"
	// maxSaveMs is the longest time between saves of changed offsets. One that is taken waits for
	// the log's next flush, too.
	maxSaveMs = 500
	// maxSearch is how much of the log a start may have to look through for copies that no save
	// covers, bytes: after so much of other traffic unchanged offsets are saved again.
	maxSearch = 64 << 20
)

// offsetFile is delayOffset.json. Offsets are written only when the copies they stand for are
// durable, so that a power cut loses nothing; what is delivered after the last save is
// recognised in the log.
type offsetFile struct {
	s *Service

	mu      sync.Mutex // guards all below
	version remoting.DataVersion
	saved   snapshot
	failed  error // of the last save
}

// offsetTable is the file's content: the real broker's table, level to the first unit that is
// not delivered, and beside it what that broker passes over.
type offsetTable struct {
	DataVersion remoting.DataVersion `json:"dataVersion"`
	OffsetTable map[string]int64     `json:"offsetTable"`
	// CopiesFrom is the log offset below which lie only copies that the offsets cover. 0 in a
	// file of the real broker's.
	CopiesFrom int64 `json:"copiesFrom,omitempty"`
	// Pending has the stretches [first, end) of each level that are not delivered, each in the
	// order of its due instants; the last one ends where the queue was looked through.
	Pending map[string][][2]int64 `json:"pending,omitempty"`
}

// snapshot is what a save writes.
type snapshot struct {
	table    offsetTable
	end      int64 // everything it stands for lies below this log offset
	progress int64
}

func newOffsetFile(s *Service) *offsetFile {
	return &offsetFile{s: s}
}

// load reads the offsets into the backlogs and returns from where in the log copies may lie
// that they do not cover. Without a readable file that is the log's beginning.
func (f *offsetFile) load() (copiesFrom int64) {
	var table offsetTable
	if err := f.read(&table); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.s.opts.Wheel.WithError(err).Error("delay offsets cannot be read: what is delivered is looked up in the log")
		table = offsetTable{}
	}
	f.version, f.saved.table.CopiesFrom = table.DataVersion, table.CopiesFrom
	copiesFrom = table.CopiesFrom
	if end := f.s.opts.Log.MaxCommitLogOffset(); copiesFrom > end {
		f.s.opts.Wheel.WithFields(logrus.Fields{"copiesFrom": copiesFrom, "end": end}).
			Warn("delay offsets are of a longer log: what is delivered is looked up from its beginning")
		copiesFrom = 0
	}
	for _, l := range f.s.levels {
		q := f.s.opts.Log.Queue(topicSchedule, l.queueID)
		if !f.begin(l, q, &table) {
			copiesFrom = 0
		}
	}
	return copiesFrom
}

func (f *offsetFile) read(table *offsetTable) error {
	if f.s.opts.Config == nil {
		return nil
	}
	return f.s.opts.Config.Load(fileName, table)
}

// begin gives a level the backlog that the table says. It returns false when the table cannot
// be about this queue and the log must tell.
func (f *offsetFile) begin(l *level, q *store.ConsumeQueue, table *offsetTable) (known bool) {
	var lowest, highest int64
	if q != nil {
		lowest, highest = q.Min(), q.Max()
	}
	name := strconv.FormatInt(l.number, 10)
	offset, listed := table.OffsetTable[name]
	if !listed {
		l.backlog = newBacklog(lowest)
		return lowest == highest
	}
	if offset >= lowest && offset <= highest {
		l.backlog, known = restore(offset, table.Pending[name])
		if l.backlog.scanned > highest {
			l.backlog.clip(lowest, highest)
		}
		return known
	}
	corrected := min(max(offset, lowest), highest)
	if offset > highest && table.CopiesFrom > 0 {
		// The table is this server's and of other data; what was delivered of these messages is
		// in the log.
		corrected = lowest
	}
	l.backlog = newBacklog(corrected)
	f.s.opts.Wheel.WithFields(logrus.Fields{"level": l.number, "offset": offset, "min": lowest, "max": highest, "corrected": corrected}).
		Warn("the offset of a delay level is outside of its queue and corrected")
	return offset <= highest
}

// run saves what has changed and become durable.
func (f *offsetFile) run() {
	defer f.s.wg.Done()
	timer := f.s.opts.Wire.NewTimer()
	defer timer.Disarm()
	var taken *snapshot
	for {
		timer.Arm(f.s.opts.Wire.NowMillis() + f.s.saveMs.Load())
		select {
		case <-timer.C():
		case <-f.s.stop:
			return
		}
		if f.s.topics.wanted.Load() {
			f.s.count(countAtOnce)
		}
		if taken != nil && f.s.opts.Log.FlushedOffset() < taken.end {
			continue
		}
		if taken != nil {
			// A failure is told and tried again.
			_ = f.save(taken)
		}
		taken = f.changed()
	}
}

// changed is a snapshot when there is something to save, or nil.
func (f *offsetFile) changed() *snapshot {
	f.mu.Lock()
	saved, failed := f.saved, f.failed
	f.mu.Unlock()
	f.s.mu.Lock()
	progress := f.s.progress
	f.s.mu.Unlock()
	if progress == saved.progress && failed == nil &&
		f.s.opts.Log.MaxCommitLogOffset()-saved.table.CopiesFrom < maxSearch {
		return nil
	}
	now := f.s.snapshot()
	return &now
}

// snapshot takes the state of all levels at one moment.
func (s *Service) snapshot() snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	snap := snapshot{
		table:    offsetTable{OffsetTable: make(map[string]int64), Pending: make(map[string][][2]int64)},
		end:      s.opts.Log.MaxCommitLogOffset(),
		progress: s.progress,
	}
	snap.table.CopiesFrom = snap.end
	for _, l := range s.levels {
		if s.opts.Log.Queue(topicSchedule, l.queueID) == nil {
			continue
		}
		name := strconv.FormatInt(l.number, 10)
		snap.table.OffsetTable[name] = l.backlog.lowest()
		if spans := l.backlog.spans(); len(spans) > 0 {
			snap.table.Pending[name] = spans
		}
		if len(l.flights) > 0 {
			snap.table.CopiesFrom = min(snap.table.CopiesFrom, l.flights[0].start)
		}
	}
	return snap
}

// Marshal returns what delayOffset.json would hold now, which is what GET_ALL_DELAY_OFFSET (45) answers.
func (s *Service) Marshal() ([]byte, error) {
	snap := s.snapshot()
	s.file.mu.Lock()
	snap.table.DataVersion = s.file.version
	s.file.mu.Unlock()
	body, err := json.Marshal(snap.table)
	if err != nil {
		return nil, fmt.Errorf("schedule: marshal: %w", err)
	}
	return body, nil
}

// saveNow writes the offsets of now. When their copies cannot be made durable, the file stays
// as it is: the log tells the rest.
func (f *offsetFile) saveNow() error {
	snap := f.s.snapshot()
	if err := f.s.opts.Log.Flush(); err != nil {
		return err
	}
	if f.s.opts.Log.FlushedOffset() < snap.end {
		return nil
	}
	return f.save(&snap)
}

// save writes a snapshot; a failure is told once and shown until a save works.
func (f *offsetFile) save(snap *snapshot) error {
	if f.s.opts.Config == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version.Counter++
	f.version.Timestamp = f.s.opts.Store.NowMillis()
	snap.table.DataVersion = f.version
	err := f.s.opts.Config.Save(fileName, snap.table)
	switch {
	case err == nil:
		f.saved = *snap
	case f.failed == nil:
		f.s.opts.Wheel.WithError(err).Error("delay offsets cannot be saved; what is delivered is looked up in the log after a crash")
	}
	f.failed = err
	return err
}

// failure is why the last save did not work, or nil.
func (f *offsetFile) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}
