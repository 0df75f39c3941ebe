package offline

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/timer/rocketmq"
)

// Report is what a directory holds.
type Report struct {
	// Writers are the servers that had the directory open: WheelMQ, RocketMQ.
	Writers []string `json:"writers"`
	Epoch   string   `json:"epoch,omitempty"` // of WheelMQ's source identities, hex
	// VirtualNow is where the virtual clock stood that the store belongs to, ms; 0 with the real one.
	VirtualNow int64 `json:"virtualNow,omitempty"`
	// Abort is the content of the abort marker, the process that did not end cleanly; "" after
	// a clean end.
	Abort string `json:"abort,omitempty"`
	// BrokerConf are the keys that the other server needs to open the directory.
	BrokerConf map[string]int64  `json:"brokerConf"`
	Log        LogReport         `json:"log"`
	Index      IndexReport       `json:"index"`
	Checkpoint *store.Checkpoint `json:"checkpoint,omitempty"`
	Topics     []TopicReport     `json:"topics"`
	Groups     []GroupReport     `json:"groups"`
	Delayed    []LevelReport     `json:"delayed"`
	Waiting    Waiting           `json:"waiting"`
	// Unsupported names what keeps WheelMQ from opening the directory.
	Unsupported []string `json:"unsupported"`
	// Unreadable are files of the configuration that could not be read.
	Unreadable []string `json:"unreadable,omitempty"`
}

// LogReport is the extent of the log.
type LogReport struct {
	Files    int   `json:"files"`
	FileSize int64 `json:"fileSize"` // bytes, of the first file
	Min      int64 `json:"min"`      // bytes
	Max      int64 `json:"max"`      // end of the last record that can be read, bytes
	Records  int64 `json:"records"`  // that queues lead to
	// LastTimestamp is the last record's store timestamp, ms, 0 without records.
	LastTimestamp int64 `json:"lastTimestamp"`
}

// IndexReport is the extent of the index.
type IndexReport struct {
	Files int `json:"files"`
	// Units lead from keys to records; EndOffset is the last of these records' log offset.
	Units     int64 `json:"units"`
	EndOffset int64 `json:"endOffset"`
}

// TopicReport is a topic with its queues; one without queues exists in topics.json alone, one
// that is not Configured only in its queues.
type TopicReport struct {
	Name       string        `json:"name"`
	Configured bool          `json:"configured"`
	Perm       int32         `json:"perm"`
	Queues     []QueueReport `json:"queues"`
}

// QueueReport is the extent [Min, Max) of a queue, units.
type QueueReport struct {
	ID  int32 `json:"id"`
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// GroupReport is a consumer group and where it stands; one without positions has never
// committed.
type GroupReport struct {
	Name       string     `json:"name"`
	Configured bool       `json:"configured"`
	Positions  []Position `json:"positions"`
}

// Position is a group's offset in a queue and how many units it is behind the queue's end.
type Position struct {
	Topic   string `json:"topic"`
	QueueID int32  `json:"queueId"`
	Offset  int64  `json:"offset"`
	Lag     int64  `json:"lag"`
}

// LevelReport is a delay level with pending messages.
type LevelReport struct {
	Level   int64 `json:"level"`
	Offset  int64 `json:"offset"` // next unit to be delivered
	Pending int64 `json:"pending"`
	// NextDue is the earliest due instant, ms.
	NextDue int64 `json:"nextDue"`
}

// Inspect reads the report. It looks at every unit of the delay levels and at the last log
// file, not at every record.
func (d *Dir) Inspect() (*Report, error) {
	r := &Report{BrokerConf: make(map[string]int64), Topics: []TopicReport{}, Groups: []GroupReport{}, Delayed: []LevelReport{}, Unsupported: []string{}}
	if err := d.openAll(); err != nil {
		return nil, err
	}
	for _, step := range []func(*Report) error{
		d.inspectHistory, d.inspectLog, d.inspectIndex, d.inspectTopics, d.inspectGroups, d.inspectDelayed, d.inspectWaiting,
	} {
		if err := step(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// realWasHere tells whether a real broker has written its timers' checkpoint, sound or not.
func (d *Dir) realWasHere() bool {
	c, ok, err := rocketmq.ReadCheckpoint(d.fs)
	if err == nil && !ok {
		_, err = d.fs.ReadFile(rocketmq.CheckpointFile)
	}
	return err == nil && !(ok && c.Ours())
}

// inspectHistory finds out who had the directory open, and how that ended.
func (d *Dir) inspectHistory(r *Report) error {
	notes, err := store.ReadNotes(d.fs)
	switch {
	case err == nil:
		r.Writers = append(r.Writers, "WheelMQ")
		r.Epoch = strconv.FormatUint(notes.Epoch, 16)
		r.VirtualNow = notes.VirtualNow
	case !errors.Is(err, fs.ErrNotExist):
		r.Writers = append(r.Writers, "WheelMQ")
		r.Unreadable = append(r.Unreadable, err.Error())
	}
	// The real broker writes it with every configuration.
	if d.realWasHere() || len(r.Writers) == 0 {
		r.Writers = append(r.Writers, "RocketMQ")
	}
	abort, err := d.fs.ReadFile(store.AbortFile)
	if err == nil {
		r.Abort = string(abort)
	}
	if c, err := store.ReadCheckpoint(d.fs); err == nil {
		r.Checkpoint = &c
	} else if !errors.Is(err, fs.ErrNotExist) {
		r.Unreadable = append(r.Unreadable, err.Error())
	}
	r.Unsupported, err = store.Unsupported(d.fs)
	if r.Unsupported == nil {
		r.Unsupported = []string{}
	}
	return err
}

func (d *Dir) inspectLog(r *Report) error {
	r.Log.Min = d.logMin()
	if len(d.files) > 0 {
		r.Log.FileSize = d.files[0].size
		r.BrokerConf["mappedFileSizeCommitLog"] = d.files[0].size
	}
	for _, q := range d.queues {
		r.Log.Records += q.max - q.min
		if len(q.files) > 0 {
			r.BrokerConf["mappedFileSizeConsumeQueue"] = q.files[0].size
		}
	}
	var err error
	if r.Log.Max, r.Log.LastTimestamp, err = d.logEnd(); err != nil {
		return err
	}
	for _, f := range d.files {
		// Files that are made ahead hold nothing yet.
		if f.start < r.Log.Max {
			r.Log.Files++
		}
	}
	return nil
}

func (d *Dir) inspectIndex(r *Report) error {
	files, err := d.indexFiles()
	if err != nil {
		return err
	}
	notes, err := store.ReadNotes(d.fs)
	if err != nil {
		notes = store.Notes{} // told by inspectHistory
	}
	for _, f := range files {
		x, err := d.openIndex(f, notes)
		if err != nil {
			return err
		}
		r.Index.Files++
		r.Index.Units += max(0, x.next-1)
		r.Index.EndOffset = max(r.Index.EndOffset, x.endOffset)
		if x.slots > 0 {
			r.BrokerConf["maxHashSlotNum"], r.BrokerConf["maxIndexNum"] = x.slots, x.units
		}
		if err := x.region.Close(); err != nil {
			return err
		}
	}
	return nil
}

// logEnd walks over the last file with records.
func (d *Dir) logEnd() (end, lastTimestamp int64, err error) {
	end = d.logMin()
	for i := len(d.files) - 1; i >= 0; i-- {
		f := d.files[i]
		b, err := d.bytesAt(f.start)
		if err != nil {
			return 0, 0, err
		}
		at := int64(0)
		for at < f.size && !store.IsBlank(b[at:]) {
			v, err := message.Parse(b[at:])
			if err != nil || v.CommitLogOffset != f.start+at {
				break
			}
			lastTimestamp = v.StoreTimestamp
			at += int64(v.Size)
		}
		if at > 0 {
			return f.start + at, lastTimestamp, nil
		}
	}
	return end, lastTimestamp, nil
}

func (d *Dir) inspectTopics(r *Report) error {
	var table topicTable
	if err := d.read("topics.json", &table); err != nil {
		r.Unreadable = append(r.Unreadable, err.Error())
	}
	topics := make(map[string]*TopicReport)
	for name, config := range table.TopicConfigTable {
		topics[name] = &TopicReport{Name: name, Configured: true, Perm: config.Perm, Queues: []QueueReport{}}
	}
	for _, q := range d.queues {
		t := topics[q.topic]
		if t == nil {
			t = &TopicReport{Name: q.topic}
			topics[q.topic] = t
		}
		t.Queues = append(t.Queues, QueueReport{q.id, q.min, q.max})
	}
	for _, name := range slices.Sorted(maps.Keys(topics)) {
		r.Topics = append(r.Topics, *topics[name])
	}
	return nil
}

func (d *Dir) inspectGroups(r *Report) error {
	var configured groupTable
	if err := d.read("subscriptionGroup.json", &configured); err != nil {
		r.Unreadable = append(r.Unreadable, err.Error())
	}
	var offsets consumerTable
	if err := d.read("consumerOffset.json", &offsets); err != nil {
		r.Unreadable = append(r.Unreadable, err.Error())
	}
	groups := make(map[string]*GroupReport)
	for name := range configured.SubscriptionGroupTable {
		groups[name] = &GroupReport{Name: name, Configured: true, Positions: []Position{}}
	}
	for _, key := range slices.Sorted(maps.Keys(offsets.OffsetTable)) {
		topic, name := splitKey(key)
		g := groups[name]
		if g == nil {
			g = &GroupReport{Name: name}
			groups[name] = g
		}
		g.Positions = append(g.Positions, d.positions(topic, offsets.OffsetTable[key])...)
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		r.Groups = append(r.Groups, *groups[name])
	}
	return nil
}

// positions are a group's offsets in the queues of a topic, by number.
func (d *Dir) positions(topic string, offsets map[string]int64) (list []Position) {
	for id, offset := range offsets {
		n, err := strconv.ParseInt(id, 10, 32)
		if err != nil {
			continue
		}
		p := Position{Topic: topic, QueueID: int32(n), Offset: offset}
		if q := d.queue(topic, p.QueueID); q != nil {
			p.Lag = max(0, q.max-offset)
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Position) int { return int(a.QueueID - b.QueueID) })
	return list
}

func (d *Dir) inspectDelayed(r *Report) error {
	var table delayTable
	if err := d.read("delayOffset.json", &table); err != nil {
		r.Unreadable = append(r.Unreadable, err.Error())
	}
	for _, q := range d.queues {
		if q.topic != message.TopicSchedule {
			continue
		}
		level := LevelReport{Level: int64(q.id) + 1}
		level.Offset = min(max(table.OffsetTable[itoa(level.Level)], q.min), q.max)
		level.Pending = q.max - level.Offset
		if level.Pending == 0 {
			continue
		}
		err := q.each(level.Offset, func(_ int64, u store.Unit) bool {
			// A hash of tags is no instant: the queue was rebuilt by somebody who does not know.
			if u.TagsCode > math.MaxInt32 && (level.NextDue == 0 || u.TagsCode < level.NextDue) {
				level.NextDue = u.TagsCode
			}
			return true
		})
		if err != nil {
			return err
		}
		r.Delayed = append(r.Delayed, level)
	}
	return nil
}

func (d *Dir) inspectWaiting(r *Report) (err error) {
	// Its timers are taken over by a start.
	r.Waiting, err = d.Waiting()
	return err
}
