package offline

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// checkQueues tells what the log's records and the units of each queue lack of each other.
func (c *checker) checkQueues() error {
	for _, topic := range slices.Sorted(maps.Keys(c.accounts)) {
		queues := c.accounts[topic]
		for _, id := range slices.Sorted(maps.Keys(queues)) {
			a := queues[id]
			c.r.Units += a.q.max - a.q.min
			if err := c.checkUnits(a); err != nil {
				return err
			}
			c.dispatched += a.tell(c.r)
		}
	}
	return nil
}

// checkUnits looks at the units of a queue that no record led to.
func (c *checker) checkUnits(a *account) error {
	q := a.q
	var now run // of units that are wrong in the same way
	tell := func() {
		if now.last > now.first {
			now.finding.What += fmt.Sprintf(", and the same up to offset %d", now.last)
		}
		if now.finding.What != "" {
			c.r.add("unit", now.finding)
		}
	}
	kind := ""
	err := q.each(q.min, func(offset int64, u store.Unit) bool {
		if a.seen.has(offset - q.min) {
			return true
		}
		k, f := c.judge(q, offset, u)
		if k == kind && now.extends(offset, f.Damage) {
			now.last++
			return true
		}
		if k != "" {
			tell()
			kind, now = k, run{f, offset, offset}
		}
		return true
	})
	tell()
	return err
}

// judge tells what is wrong with a unit that no record led to; kind is empty for one whose
// record is not in the log any more.
func (c *checker) judge(q *queue, offset int64, u store.Unit) (kind string, f Finding) {
	f.Damage = true
	f.File, f.Offset = q.place(offset)
	switch {
	case u.Size <= 0:
		kind, f.What = "empty", "the unit is empty, others follow"
	case u.Size == store.FillerSize:
		kind, f.What = "filler", "a filler: the message of this offset was never found"
	case u.CommitLogOffset < c.d.logMin():
	case u.CommitLogOffset+int64(u.Size) > c.r.LogEnd:
		c.pastEnd++
		f.Damage = u.CommitLogOffset < c.durable
		kind, f.What = "past", fmt.Sprintf("the unit leads to %d, past the end of the log at %d", u.CommitLogOffset, c.r.LogEnd)
	default:
		kind, f.What = "nowhere", fmt.Sprintf("the unit leads to %d, where no record of its queue is", u.CommitLogOffset)
	}
	return kind, f
}

// checkCheckpoint checks that the checkpoint promises no more than there is.
func (c *checker) checkCheckpoint() error {
	point, err := store.ReadCheckpoint(c.d.fs)
	if errors.Is(err, fs.ErrNotExist) {
		if c.r.Records > 0 {
			c.r.add("checkpoint", Finding{false, store.CheckpointFile, 0, "is missing: the whole log is read"})
		}
		return nil
	}
	if err != nil {
		return nil // told by readNotes
	}
	for _, field := range []struct {
		at     int64
		name   string
		offset int64
	}{{32, "confirmPhyOffset", point.ConfirmPhyOffset}, {40, "logicsPhysicalOffset", point.LogicsPhysicalOffset}} {
		if field.offset > c.r.LogEnd {
			c.r.add("checkpoint", Finding{true, store.CheckpointFile, field.at, fmt.Sprintf("%s is %d, the log ends at %d", field.name, field.offset, c.r.LogEnd)})
		}
	}
	return nil
}

// checkOffsets checks that consumers and delay levels stand within their queues.
func (c *checker) checkOffsets() error {
	var consumers consumerTable
	var delays delayTable
	// Unreadable files are told by readNotes.
	_ = c.d.read("consumerOffset.json", &consumers)
	_ = c.d.read("delayOffset.json", &delays)
	for _, key := range slices.Sorted(maps.Keys(consumers.OffsetTable)) {
		topic, _ := splitKey(key)
		for _, p := range c.d.positions(topic, consumers.OffsetTable[key]) {
			c.checkOffset("consumerOffset.json", key, c.d.queue(topic, p.QueueID), p.QueueID, p.Offset)
		}
	}
	for _, level := range slices.Sorted(maps.Keys(delays.OffsetTable)) {
		n, err := strconv.ParseInt(level, 10, 32)
		if err != nil {
			c.r.add("offsets", Finding{true, configDir + "delayOffset.json", 0, fmt.Sprintf("%q is no delay level", level)})
			continue
		}
		c.checkOffset("delayOffset.json", "level "+level, c.d.queue(message.TopicSchedule, int32(n-1)), int32(n-1), delays.OffsetTable[level])
	}
	return nil
}

func (c *checker) checkOffset(file, who string, q *queue, id int32, offset int64) {
	end := int64(0)
	if q != nil {
		end = q.max
	}
	if offset > end {
		c.r.add("offsets", Finding{false, configDir + file, 0, fmt.Sprintf("%s queue %d is at %d, the queue ends at %d", who, id, offset, end)})
	}
}

// tellRecovery says what the next start would do.
func (c *checker) tellRecovery() error {
	tell := func(format string, args ...any) { c.r.Recovery = append(c.r.Recovery, fmt.Sprintf(format, args...)) }
	unsupported, err := store.Unsupported(c.d.fs)
	if err != nil {
		return err
	}
	for _, what := range unsupported {
		tell("refuse the directory: it has %s", what)
	}
	if err := store.CheckLayout(c.d.fs); err != nil {
		tell("refuse the directory: %v", err)
	}
	if len(c.r.Recovery) > 0 {
		c.r.Refused = true
		return nil
	}
	_, err = c.d.fs.ReadFile(store.AbortFile)
	if errors.Is(err, fs.ErrNotExist) && len(c.r.Findings) == 0 {
		tell("nothing, the last end was clean")
		return nil
	}
	tell("end the log at %d", c.r.LogEnd)
	for _, n := range []struct {
		count  int64
		format string
	}{
		{c.cut, "clear %d bytes behind it"}, {c.behind, "%d records among them, which were not durable"},
		{c.dispatched, "put %d records into their queues"}, {c.pastEnd, "cut %d units that lead past the end"},
	} {
		if n.count > 0 {
			tell(n.format, n.count)
		}
	}
	return nil
}
