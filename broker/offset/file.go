package offset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/metrics"
)

// fileName is the file's name in the config directory.
const fileName = "consumerOffset.json"

// maxFlushMs bounds how long a changed offset waits for its save, ms: with the save itself, what
// is on disk is at most a second behind.
const maxFlushMs = 500

type dataVersion struct {
	Counter      int64 `json:"counter"`
	StateVersion int64 `json:"stateVersion"`
	Timestamp    int64 `json:"timestamp"`
}

// file is consumerOffset.json: {"offsetTable":{"topic@group":{"0":5}},"groupTopicMap":
// {"group":["topic"]},"dataVersion":{…}}.
type file struct {
	DataVersion   dataVersion                `json:"dataVersion"`
	GroupTopicMap map[string][]string        `json:"groupTopicMap"`
	OffsetTable   map[string]map[int32]int64 `json:"offsetTable"`
	// Resets are the queues whose reset is not done. RocketMQ passes over it.
	Resets map[string][]int32 `json:"wheelmqResets,omitempty"`
}

// New loads the table from its file; without a readable one it is empty.
func New(opts Options) (*Table, error) {
	t := &Table{opts: opts, rows: make(map[string]*row), dirty: make(chan struct{}, 1), stop: make(chan struct{})}
	t.SaveWithin(opts.FlushMs)
	t.load()
	t.clamp()
	if opts.Health != nil {
		opts.Health.Register("offsets", t.check)
	}
	return t, metrics.Register(opts.Metrics, "offset",
		metrics.Counter("wheelmq_offset_commits_total", "Consumer offsets committed.", t.commits.Load),
		metrics.Gauge("wheelmq_offset_resets_pending", "Queues whose offset was reset and whose clients have not gone on from there.", t.resets.Load),
	)
}

// SaveWithin changes how long a committed offset waits for its save, ms, from the next one on; 0 and
// more than maxFlushMs are maxFlushMs.
func (t *Table) SaveWithin(flushMs int64) {
	if flushMs <= 0 {
		flushMs = maxFlushMs
	}
	t.flushMs.Store(min(flushMs, maxFlushMs))
}

// Start begins to save what changes, FlushMs after the first change.
func (t *Table) Start() {
	t.started.Add(1)
	go t.run()
}

// Close saves what has changed and stops.
func (t *Table) Close() error {
	t.stopOnce.Do(func() { close(t.stop) })
	t.started.Wait()
	return t.Save()
}

func (t *Table) run() {
	defer t.started.Done()
	alarm := t.opts.Wire.NewTimer()
	defer alarm.Disarm()
	for {
		t.asleep.Store(true)
		if t.changes.Load() != t.saved.Load() {
			t.wake()
		}
		select {
		case <-t.stop:
			return
		case <-t.dirty:
		}
		alarm.Arm(t.opts.Wire.NowMillis() + t.flushMs.Load())
		select {
		case <-t.stop:
			return
		case <-alarm.C():
		}
		known := t.saveErr.Load() != nil
		if err := t.Save(); err != nil && !known {
			t.opts.Log.WithError(err).Error("consumer offsets are not saved")
		}
	}
}

// changed notes that there is something to save.
func (t *Table) changed() {
	t.changes.Add(1)
	t.wake()
}

func (t *Table) wake() {
	if t.asleep.Load() && t.asleep.CompareAndSwap(true, false) {
		t.dirty <- struct{}{}
	}
}

// Save writes the file if anything has changed since the last one.
func (t *Table) Save() error {
	t.saveMu.Lock()
	defer t.saveMu.Unlock()
	changes := t.changes.Load()
	if changes == t.saved.Load() {
		return nil
	}
	taken, err := t.snapshot(), error(nil)
	if t.opts.Before != nil {
		err = t.opts.Before()
	}
	if err == nil {
		err = t.opts.Config.Save(fileName, taken)
	}
	if err != nil {
		err = fmt.Errorf("offset: save: %w", err)
		t.saveErr.Store(&err)
		return err
	}
	t.saved.Store(changes)
	t.saveErr.Store(nil)
	return nil
}

// snapshot is the file's contents now. saveMu is held.
func (t *Table) snapshot() *file {
	f := &file{GroupTopicMap: make(map[string][]string), OffsetTable: make(map[string]map[int32]int64), Resets: make(map[string][]int32)}
	t.mu.RLock()
	for key, r := range t.rows {
		offsets := make(map[int32]int64)
		r.mu.Lock()
		for queueID, p := range r.queues {
			if p.committed != None {
				offsets[queueID] = p.committed
			}
			if p.reset != notReset && p.committed != None {
				f.Resets[key] = append(f.Resets[key], queueID)
			}
		}
		r.mu.Unlock()
		if len(offsets) > 0 {
			f.OffsetTable[key] = offsets
			f.GroupTopicMap[r.group] = append(f.GroupTopicMap[r.group], r.topic)
		}
	}
	t.mu.RUnlock()
	f.DataVersion = t.version
	f.DataVersion.Counter += t.commits.Load() / versionStep
	f.DataVersion.Timestamp = t.opts.Store.NowMillis()
	return f
}

// Marshal returns what the file would hold now, which is what GET_ALL_CONSUMER_OFFSET (43) answers.
func (t *Table) Marshal() ([]byte, error) {
	t.saveMu.Lock()
	f := t.snapshot()
	t.saveMu.Unlock()
	body, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("offset: marshal: %w", err)
	}
	return body, nil
}

// load reads the file. Groups without offsets start as new ones do: an unreadable file must not
// keep the broker from starting.
func (t *Table) load() {
	var f file
	if err := t.opts.Config.Load(fileName, &f); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			t.opts.Log.WithError(err).Error("consumer offsets cannot be read: every group starts as a new one")
		}
		return
	}
	t.version = f.DataVersion
	for key, offsets := range f.OffsetTable {
		topic, group, ok := splitKey(key)
		if !ok {
			t.opts.Log.WithField("key", key).Warn("consumer offsets have a key that is not topic@group, it is left out")
			continue
		}
		r := newRow(topic, group)
		for queueID, committed := range offsets {
			r.queue(queueID).committed = max(committed, 0)
		}
		for _, queueID := range f.Resets[key] {
			if p := r.queues[queueID]; p != nil {
				p.reset = resetPending
				t.resets.Add(1)
			}
		}
		t.rows[key] = r
	}
}

// clamp takes offsets back to the ends of their queues. A power cut may have taken messages
// that were consumed and committed: what is stored in their places must be consumed, too. The
// file is written before anything can be.
func (t *Table) clamp() {
	if t.opts.End == nil {
		return
	}
	for _, r := range t.rows {
		for queueID, p := range r.queues {
			end := t.opts.End(r.topic, queueID)
			if p.committed <= end {
				continue
			}
			t.opts.Log.WithFields(logrus.Fields{
				"topic": r.topic, "group": r.group, "queueId": queueID, "offset": p.committed, "max": end,
			}).Warn("a consumer offset is past the end of its queue and corrected")
			p.committed = end
			t.changes.Add(1)
		}
	}
	if err := t.Save(); err != nil {
		t.opts.Log.WithError(err).Error("consumer offsets are not saved")
	}
}

func (t *Table) check() health.Result {
	if err := t.saveErr.Load(); err != nil {
		return health.Result{State: health.Degraded, Reason: "consumer offsets are not saved: " + (*err).Error()}
	}
	return health.Result{State: health.Up}
}
