package offline

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// Finding is something in a directory that is not as a clean end leaves it.
type Finding struct {
	// Damage is what no start repairs, or what was durable and is gone. The rest is what a
	// crash leaves behind and the next start puts right.
	Damage bool   `json:"damage"`
	File   string `json:"file"`
	Offset int64  `json:"offset"` // in the file, bytes
	What   string `json:"what"`
}

// Result is what a check found.
type Result struct {
	Records  int64     `json:"records"` // sound ones in the log
	Units    int64     `json:"units"`   // in queues
	LogEnd   int64     `json:"logEnd"`  // bytes
	Findings []Finding `json:"findings"`
	// Omitted counts findings beyond the first few of a kind.
	Omitted int64 `json:"omitted"`
	Damaged bool  `json:"damaged"`
	// Refused tells that this server does not open the directory at all.
	Refused bool `json:"refused"`
	// Recovery says what the next start would do.
	Recovery []string `json:"recovery"`

	kinds map[string]int
}

// kept is how many findings of a kind are listed.
const kept = 20

// add notes a finding of a kind.
func (r *Result) add(kind string, f Finding) {
	r.Damaged = r.Damaged || f.Damage
	if r.kinds[kind]++; r.kinds[kind] > kept {
		r.Omitted++
		return
	}
	r.Findings = append(r.Findings, f)
}

// checker is one check of a directory.
type checker struct {
	d        *Dir
	r        *Result
	progress func(done, total int64)
	total    int64 // bytes

	notes    store.Notes
	topics   topicTable
	accounts accounts
	durable  int64 // the log and its queues were durable below, by the checkpoint
	ended    bool  // the log's end was found; what follows is left behind

	dispatched int64 // records without a unit, which recovery dispatches
	pastEnd    int64 // units beyond the end of the log
	cut        int64 // bytes beyond the end of the log that are not zero
	behind     int64 // sound records beyond the end
}

// Check reads everything: every record with its CRC, every unit of every queue against its
// record and back, the checkpoint, the offsets and the configuration. progress, which may be
// nil, is told how many bytes are done.
func (d *Dir) Check(progress func(done, total int64)) (*Result, error) {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	c := &checker{
		d: d, r: &Result{Findings: []Finding{}, Recovery: []string{}, kinds: make(map[string]int)},
		progress: progress, accounts: make(accounts),
	}
	if err := d.openAll(); err != nil {
		return nil, err
	}
	for _, q := range d.queues {
		c.accounts.add(q)
	}
	for _, f := range d.files {
		c.total += f.size
	}
	defer c.unmapQueues()
	for _, step := range []func() error{
		c.readNotes, c.checkNames, c.checkLog, c.checkQueues, c.checkIndex, c.checkCheckpoint, c.checkOffsets, c.tellRecovery,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return c.r, nil
}

// readNotes reads what the check needs to judge the rest.
func (c *checker) readNotes() error {
	notes, err := store.ReadNotes(c.d.fs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.r.add("config", Finding{false, store.MetaFile, 0, "cannot be read: every queue is built anew, delayed copies get a new source identity"})
	}
	c.notes = notes
	point, err := store.ReadCheckpoint(c.d.fs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.r.add("checkpoint", Finding{false, store.CheckpointFile, 0, err.Error()})
	}
	if c.durable, err = c.durableEnd(point); err != nil {
		return err
	}
	for _, table := range []struct {
		name string
		into any
	}{
		{"topics.json", &c.topics}, {"subscriptionGroup.json", &groupTable{}},
		{"consumerOffset.json", &consumerTable{}}, {"delayOffset.json", &delayTable{}},
	} {
		if err := c.d.read(table.name, table.into); err != nil {
			c.r.add("config", Finding{true, configDir + table.name, 0, "cannot be read: " + err.Error()})
		}
	}
	return nil
}

// durableEnd is where the log's durable part ends. After a clean end that is all that queues
// lead to; after another it is what the checkpoint names: an offset, or with the real broker the
// instant before which everything was flushed, which is exact to a file.
func (c *checker) durableEnd(point store.Checkpoint) (end int64, err error) {
	end = point.LogicsPhysicalOffset
	_, err = c.d.fs.ReadFile(store.AbortFile)
	if errors.Is(err, fs.ErrNotExist) {
		for _, q := range c.d.queues {
			if q.max > q.min {
				last, err := c.lastRecordEnd(q)
				if err != nil {
					return 0, err
				}
				end = max(end, last)
			}
		}
		return end, nil
	}
	if err != nil || end > 0 {
		return end, err
	}
	for _, f := range c.d.files {
		b, err := c.d.bytesAt(f.start)
		if err != nil {
			return 0, err
		}
		if v, err := message.Parse(b); err != nil || v.StoreTimestamp > min(point.PhysicMsgTimestamp, point.LogicsMsgTimestamp) {
			break
		}
		end = f.start
	}
	return end, nil
}

// lastRecordEnd is where the record of a queue's last unit ends, 0 when none is there.
func (c *checker) lastRecordEnd(q *queue) (int64, error) {
	u, err := q.unit(q.max - 1)
	if err != nil {
		return 0, err
	}
	b, err := c.d.bytesAt(u.CommitLogOffset)
	if err != nil {
		return 0, err
	}
	if v, err := message.Parse(b); err != nil || v.CommitLogOffset != u.CommitLogOffset {
		return 0, nil
	}
	return u.CommitLogOffset + int64(u.Size), nil
}

// checkNames looks for files that are missing, or of another size than their neighbours.
func (c *checker) checkNames() error {
	entries, err := c.d.fs.List(store.CommitLogDir)
	if err != nil {
		return err
	}
	for i, e := range entries {
		name := store.CommitLogDir + "/" + e.Name
		switch {
		case len(e.Name) != 20 || e.Dir:
			c.r.add("name", Finding{true, name, 0, "is not a log file"})
		case e.Size == 0 && i < len(entries)-1:
			c.r.add("name", Finding{true, name, 0, "is empty"})
		}
	}
	c.checkChain(c.d.files, 1)
	for _, q := range c.d.queues {
		c.checkChain(q.files, store.UnitSize)
	}
	return nil
}

// checkChain checks that files are of one size, a multiple of unit bytes, and follow each other.
func (c *checker) checkChain(files []mappedFile, unit int64) {
	for i, f := range files {
		if f.size != files[0].size || f.size%unit != 0 {
			c.r.add("name", Finding{true, f.name, 0, fmt.Sprintf("has %d bytes, the first file has %d", f.size, files[0].size)})
		}
		if i > 0 && f.start != files[i-1].start+files[i-1].size {
			c.r.add("name", Finding{true, f.name, 0, fmt.Sprintf("the file before it is missing: it should begin at %d", files[i-1].start+files[i-1].size)})
		}
	}
}

func (c *checker) unmapQueues() {
	for _, q := range c.d.queues {
		q.unmap()
	}
}

// tagsCodeFits tells whether a unit's tagsCode is the one of its record: the hash of its tags,
// or for a delayed one an instant after it was stored.
func tagsCodeFits(v *message.View, code int64) bool {
	if string(v.Topic) == message.TopicSchedule {
		return code >= v.StoreTimestamp
	}
	tags, _ := message.PropertyGet(v.Properties, message.PropertyTags)
	return code == message.TagsHash(tags)
}
