package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/wheelmq/wheelmq/store/region"
)

const (
	checkpointFile = "checkpoint"
	abortFile      = "abort"
	metaFile       = "config/wheelmqStore.json"
	checkpointSize = 4096
)

// meta is what this store keeps beside the real broker's files.
type meta struct {
	Epoch uint64 `json:"epoch"`
	// End is the log offset below which log and queues were durable, bytes; the checkpoint, which
	// is written after it, names it too. What the queues held then is counted: when the next
	// start finds something else, they are rebuilt.
	End   int64 `json:"end"`
	Stamp int64 `json:"stamp"` // the checkpoint's, ms
	census
	// CommitLogFileSize and ConsumeQueueFileSize are what the store's files have, bytes.
	CommitLogFileSize    int64 `json:"commitLogFileSize,omitempty"`
	ConsumeQueueFileSize int64 `json:"consumeQueueFileSize,omitempty"`
	// Deleted names deleted topics and where the log ended then: their records below it are
	// not dispatched again.
	Deleted map[string]int64 `json:"deleted,omitempty"`
	// Index names what of the index is durable; nil: the index is not this store's work.
	Index *indexMark `json:"index,omitempty"`
	// Virtual is where a virtual clock stood; nil: the store's time is the real clock's.
	Virtual *virtualMark `json:"virtualClock,omitempty"`
}

// census counts the queues that have units of records below a log offset.
type census struct {
	Queues int   `json:"queues"`
	Units  int64 `json:"units"` // from each queue's beginning, -1: nobody counted
	Heads  int64 `json:"heads"` // of these, those before each queue's first file
}

func (c *census) add(q *ConsumeQueue, units int64) {
	if units > 0 {
		c.Queues++
		c.Units += units
		c.Heads += q.first()
	}
}

// complete tells whether what was found later lacks nothing. More heads are missing than were
// deleted when a queue lost its first file.
func (c census) complete(found census) bool {
	return c.Units >= 0 && found.Queues == c.Queues && found.Units == c.Units && found.Heads <= c.Heads
}

func (s *Store) loadMeta() error {
	b, err := s.fs.ReadFile(metaFile)
	if errors.Is(err, region.ErrNotExist) {
		s.meta = meta{Epoch: newEpoch(), census: census{Units: -1}}
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &s.meta); err != nil || s.meta.Epoch == 0 {
		// Without it queues are rebuilt and source identities start anew.
		s.opts.Log.WithField("file", metaFile).Warn("unreadable, made anew")
		s.meta = meta{Epoch: newEpoch(), census: census{Units: -1}}
	}
	return nil
}

// writeCheckpoint notes that log and queues are durable below end. Layout: i8 physic
// timestamp, i8 logics timestamp, i8 index timestamp, i8 master flushed offset, i8 confirm
// offset, i8 logics physical offset, zeros up to 4,096 bytes.
func (s *Store) writeCheckpoint(end, stamp int64) error {
	b := make([]byte, checkpointSize)
	be := binary.BigEndian
	be.PutUint64(b, uint64(stamp))
	be.PutUint64(b[8:], uint64(stamp))
	be.PutUint64(b[16:], uint64(s.indexFullUntil))
	be.PutUint64(b[32:], uint64(end))
	be.PutUint64(b[40:], uint64(end))
	counted, err := s.count(end)
	if err != nil {
		return err
	}
	s.meta.End, s.meta.Stamp, s.meta.census = end, stamp, counted
	s.meta.CommitLogFileSize, s.meta.ConsumeQueueFileSize = s.log.fileSize, int64(s.queues.fileSize)
	s.markClock()
	for topic, at := range s.meta.Deleted {
		if at <= s.log.min() && !s.queues.isLeaving(topic) {
			delete(s.meta.Deleted, topic)
		}
	}
	if err := s.saveMeta(); err != nil {
		return err
	}
	if err := s.writeFile(checkpointFile, b); err != nil {
		return err
	}
	s.checkpointed.Store(end)
	return nil
}

// saveMeta writes the file. Caller holds flushMu.
func (s *Store) saveMeta() error {
	m, err := json.Marshal(s.meta)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return s.writeFile(metaFile, m)
}

// count is the census of durable units of records below a log offset. Caller holds flushMu.
func (s *Store) count(end int64) (c census, err error) {
	for _, q := range s.queues.all() {
		if q.counted != q.synced {
			if q.counted, err = q.below(q.synced, end); err != nil {
				return c, err
			}
		}
		c.add(q, q.counted)
	}
	return c, nil
}

// checkpointOffset is the log offset that the checkpoint names, 0 without one.
func (s *Store) checkpointOffset() int64 { return s.checkpointField(40) }

// checkpointField reads one i8 of the checkpoint, 0 without one.
func (s *Store) checkpointField(at int) int64 {
	b, err := s.fs.ReadFile(checkpointFile)
	if err != nil || len(b) < 48 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b[at:]))
}

// markRunning leaves a checkpoint of the recovered state, whose log and queues are durable.
func (s *Store) markRunning() error {
	s.published.Store(s.log.end.Load())
	s.syncIndex()
	if err := s.queues.sync(); err != nil {
		return err
	}
	stamped := s.meta.Virtual != nil
	s.beginClock()
	if err := s.writeCheckpoint(s.log.end.Load(), s.lastStamp); err != nil && (!errors.Is(err, region.ErrNoSpace) || stamped != s.opts.Virtual) {
		return err
	}
	err := s.writeFile(abortFile, []byte(strconv.Itoa(os.Getpid())))
	if errors.Is(err, region.ErrNoSpace) && !s.wasClosed() {
		return nil // the marker of the run before is there
	}
	return err
}

// wasClosed tells whether the last end was a clean one.
func (s *Store) wasClosed() bool {
	_, err := s.fs.ReadFile(abortFile)
	return errors.Is(err, region.ErrNotExist)
}

func (s *Store) markStopped() error { return s.fs.Remove(abortFile) }
