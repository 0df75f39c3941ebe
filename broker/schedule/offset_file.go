package schedule

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/remoting"
)

// saveMs is how often changed offsets are written.
const saveMs = 1000

// offsetFile is delayOffset.json: per level the next unit of its queue. Offsets are written
// only when the copies they stand for are durable, so that a power cut delivers twice rather
// than never.
type offsetFile struct {
	s    *Service
	path string

	mu      sync.Mutex // guards all below
	version remoting.DataVersion
	saved   []int64
}

type offsetTable struct {
	DataVersion remoting.DataVersion `json:"dataVersion"`
	OffsetTable map[string]int64     `json:"offsetTable"`
}

func newOffsetFile(s *Service) *offsetFile {
	f := &offsetFile{s: s, saved: make([]int64, len(s.offsets))}
	if s.opts.ConfigDir != "" {
		f.path = filepath.Join(s.opts.ConfigDir, "delayOffset.json")
	}
	return f
}

// load reads the offsets. Without a readable file every level starts at its queue's beginning:
// messages may come again, none is lost.
func (f *offsetFile) load() {
	if f.path == "" {
		return
	}
	var table offsetTable
	if err := persist.Load(f.path, &table); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.s.opts.Wheel.WithError(err).Error("delay offsets cannot be read: pending levels are delivered from their beginning")
		}
		return
	}
	f.version = table.DataVersion
	for name, offset := range table.OffsetTable {
		if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(f.s.offsets) {
			f.s.offsets[n-1].Store(offset)
			f.saved[n-1] = offset
			// Before anything is sent: an offset ahead of its queue would skip what comes.
			f.s.clampOffset(int64(n), f.s.opts.Log.Queue(topicSchedule, int32(n-1)))
		}
	}
}

// run saves every second what has changed and become durable.
func (f *offsetFile) run() {
	defer f.s.wg.Done()
	timer := f.s.opts.Wire.NewTimer()
	defer timer.Disarm()
	var captured []int64
	var end int64
	for {
		timer.Arm(f.s.opts.Wire.NowMillis() + saveMs)
		select {
		case <-timer.C():
		case <-f.s.stop:
			return
		}
		if captured == nil {
			captured, end = f.current(), f.s.opts.Log.MaxCommitLogOffset()
		}
		if f.s.opts.Log.FlushedOffset() < end {
			continue
		}
		if err := f.write(captured); err != nil {
			f.s.opts.Wheel.WithError(err).Error("delay offsets cannot be saved")
		}
		captured = nil
	}
}

func (f *offsetFile) current() []int64 {
	offsets := make([]int64, len(f.s.offsets))
	for i := range offsets {
		offsets[i] = f.s.offsets[i].Load()
	}
	return offsets
}

// save writes the offsets of now; the store is closed after this service and flushes then.
func (f *offsetFile) save() error { return f.write(f.current()) }

func (f *offsetFile) write(offsets []int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed := false
	table := offsetTable{OffsetTable: make(map[string]int64)}
	for i, offset := range offsets {
		changed = changed || offset != f.saved[i]
		if offset > 0 {
			table.OffsetTable[strconv.Itoa(i+1)] = offset
		}
	}
	if !changed || f.path == "" {
		return nil
	}
	f.version.Counter++
	f.version.Timestamp = f.s.opts.Store.NowMillis()
	table.DataVersion = f.version
	if err := persist.Save(f.path, table); err != nil {
		return err
	}
	f.saved = offsets
	return nil
}
