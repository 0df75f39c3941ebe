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
	// Queues and Units count the queues and their published units at the last checkpoint:
	// fewer at the next start mean that some were lost, and all are rebuilt.
	Queues int   `json:"queues"`
	Units  int64 `json:"units"`
}

func (s *Store) loadMeta() error {
	b, err := s.fs.ReadFile(metaFile)
	if errors.Is(err, region.ErrNotExist) {
		s.meta = meta{Epoch: newEpoch()}
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &s.meta); err != nil || s.meta.Epoch == 0 {
		// Without it queues are rebuilt and source identities start anew.
		s.opts.Log.WithField("file", metaFile).Warn("unreadable, made anew")
		s.meta = meta{Epoch: newEpoch(), Units: -1}
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
	be.PutUint64(b[32:], uint64(end))
	be.PutUint64(b[40:], uint64(end))
	queues, units := s.countUnits()
	s.meta.Queues, s.meta.Units = queues, units
	m, err := json.Marshal(s.meta)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := s.fs.WriteFile(metaFile, m); err != nil {
		return err
	}
	return s.fs.WriteFile(checkpointFile, b)
}

// countUnits is called when the units counted are durable already: it may count more, which
// recovery dispatches again at worst.
func (s *Store) countUnits() (queues int, units int64) {
	for _, q := range s.queues.all() {
		if n := q.Max(); n > 0 {
			queues++
			units += n
		}
	}
	return queues, units
}

// checkpointOffset is the log offset that the checkpoint names, 0 without one.
func (s *Store) checkpointOffset() int64 {
	b, err := s.fs.ReadFile(checkpointFile)
	if err != nil || len(b) < 48 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b[40:]))
}

func (s *Store) markRunning() error {
	if err := s.writeCheckpoint(s.log.end.Load(), s.lastStamp); err != nil {
		return err
	}
	return s.fs.WriteFile(abortFile, []byte(strconv.Itoa(os.Getpid())))
}

func (s *Store) markStopped() error { return s.fs.Remove(abortFile) }
