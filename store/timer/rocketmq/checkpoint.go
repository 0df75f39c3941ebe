package rocketmq

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"github.com/wheelmq/wheelmq/store/region"
)

// CheckpointFile is where the real broker keeps how far its timers are.
const CheckpointFile = "config/timercheck"

const (
	checkpointSize   = 4096 // of the file, bytes
	checkpointFields = 56   // of it that are used, bytes
)

// Checkpoint is the content of config/timercheck.
type Checkpoint struct {
	// ReadMs is the first slot that was not read, ms: all before it are delivered.
	ReadMs int64
	// LogPos is up to where the timer log is durable, bytes.
	LogPos int64
	// QueueOffset is the first unit of the timer topic's queue that is not known to be in the
	// timer log or delivered; MasterOffset is that of the broker that delivers, the same but for
	// slaves.
	QueueOffset, MasterOffset int64
	// StateVersion, Timestamp (ms) and Counter are its data version.
	StateVersion, Timestamp, Counter int64
}

// Ours tells whether Block or Release wrote it, and no real broker since.
func (c Checkpoint) Ours() bool {
	return c == Checkpoint{} || c == released(c.Timestamp, c.QueueOffset)
}

// released is a checkpoint before whose queue offset nothing pends.
func released(nowMs, queueOffset int64) Checkpoint {
	return Checkpoint{ReadMs: nowMs - nowMs%1000, QueueOffset: queueOffset, MasterOffset: queueOffset, Timestamp: nowMs, Counter: 1}
}

// ReadCheckpoint reads config/timercheck; false: there is none that can be used.
func ReadCheckpoint(tree region.FS) (c Checkpoint, ok bool, err error) {
	b, err := tree.ReadFile(CheckpointFile)
	if errors.Is(err, fs.ErrNotExist) {
		return c, false, nil
	}
	if err != nil {
		return c, false, fmt.Errorf("rocketmq: %s: %w", CheckpointFile, err)
	}
	c, ok = decodeCheckpoint(b)
	return c, ok, nil
}

func decodeCheckpoint(b []byte) (c Checkpoint, ok bool) {
	if len(b) < checkpointFields {
		return c, false
	}
	for _, n := range c.fields() {
		*n, b = int64(binary.BigEndian.Uint64(b)), b[8:]
	}
	if c.ReadMs < 0 || c.LogPos < 0 || c.QueueOffset < 0 || c.MasterOffset < 0 {
		return Checkpoint{}, false
	}
	return c, true
}

// write replaces config/timercheck.
func (c Checkpoint) write(tree region.FS) error {
	b := make([]byte, 0, checkpointSize)
	for _, n := range c.fields() {
		b = binary.BigEndian.AppendUint64(b, uint64(*n))
	}
	if err := tree.WriteFile(CheckpointFile, b[:checkpointSize]); err != nil {
		return fmt.Errorf("rocketmq: %s: %w", CheckpointFile, err)
	}
	return nil
}

func (c *Checkpoint) fields() []*int64 {
	return []*int64{&c.ReadMs, &c.LogPos, &c.QueueOffset, &c.MasterOffset, &c.StateVersion, &c.Timestamp, &c.Counter}
}
