package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/wheelmq/wheelmq/store/region"
)

// Names and sizes of the layout, for readers of a directory that is not open.
const (
	CommitLogDir    = commitLogDir
	ConsumeQueueDir = consumeQueueDir
	CheckpointFile  = checkpointFile
	AbortFile       = abortFile
	IndexDir        = indexDir
	MetaFile        = metaFile
	UnitSize        = unitSize   // of a ConsumeQueue's unit, bytes
	FillerSize      = fillerSize // Size of the units before a queue's first one
)

// DecodeUnit reads one unit from UnitSize bytes.
func DecodeUnit(b []byte) Unit { return decodeUnit(b) }

// IsBlank tells whether b is the unused rest of a log file.
func IsBlank(b []byte) bool { return isBlank(b) }

// InQueue tells whether a record has a unit in its queue: prepared and rolled-back records of
// transactions have none.
func InQueue(sysFlag int32) bool { return indexed(sysFlag) }

// Checkpoint is the file of that name: instants in ms, offsets in bytes of the log.
type Checkpoint struct {
	PhysicMsgTimestamp   int64 `json:"physicMsgTimestamp"`
	LogicsMsgTimestamp   int64 `json:"logicsMsgTimestamp"`
	IndexMsgTimestamp    int64 `json:"indexMsgTimestamp"`
	MasterFlushedOffset  int64 `json:"masterFlushedOffset"`
	ConfirmPhyOffset     int64 `json:"confirmPhyOffset"`
	LogicsPhysicalOffset int64 `json:"logicsPhysicalOffset"`
}

// ReadCheckpoint reads the checkpoint; the error wraps fs.ErrNotExist when there is none.
func ReadCheckpoint(fs region.FS) (Checkpoint, error) {
	var c Checkpoint
	b, err := fs.ReadFile(checkpointFile)
	if err != nil {
		return c, err
	}
	fields := []*int64{
		&c.PhysicMsgTimestamp, &c.LogicsMsgTimestamp, &c.IndexMsgTimestamp, &c.MasterFlushedOffset, &c.ConfirmPhyOffset, &c.LogicsPhysicalOffset,
	}
	if len(b) < 8*len(fields) {
		return c, fmt.Errorf("store: %s has %d bytes, want %d", checkpointFile, len(b), checkpointSize)
	}
	for i, field := range fields {
		*field = int64(binary.BigEndian.Uint64(b[8*i:]))
	}
	return c, nil
}

// Notes are what this server keeps beside the real broker's files.
type Notes struct {
	Epoch uint64
	// Deleted names deleted topics and where the log ended then, bytes.
	Deleted map[string]int64
	// MaxHashSlotNum and MaxIndexNum are the sizes of the index's files; 0 when not noted.
	MaxHashSlotNum, MaxIndexNum int64
	// Virtual tells that the store's time is a virtual clock's, which stood at VirtualNow, ms.
	Virtual    bool
	VirtualNow int64
}

// ReadNotes reads them; the error wraps fs.ErrNotExist when this server never opened the
// directory.
func ReadNotes(fs region.FS) (Notes, error) {
	b, err := fs.ReadFile(metaFile)
	if err != nil {
		return Notes{}, err
	}
	var m meta
	if err := json.Unmarshal(b, &m); err != nil {
		return Notes{}, fmt.Errorf("store: %s: %w", metaFile, err)
	}
	n := Notes{Epoch: m.Epoch, Deleted: m.Deleted}
	if m.Virtual != nil {
		n.Virtual, n.VirtualNow = true, m.Virtual.Now
	}
	if m.Index != nil {
		n.MaxHashSlotNum, n.MaxIndexNum = int64(m.Index.Slots), int64(m.Index.Units)
	}
	return n, nil
}
