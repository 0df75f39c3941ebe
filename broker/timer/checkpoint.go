package timer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sort"

	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// checkpoint is what a start goes on from.
type checkpoint struct {
	epoch       uint64 // of the store
	logEnd      int64  // everything it stands for lies below this log offset
	queueOffset int64  // units below are taken in
	// copiesFrom is the log offset below which lie only copies of messages that it does not name.
	copiesFrom int64
	reached    int64 // the last second of which something may be delivered
	lines      [2]*wheel.State
	topics     map[string]int64 // pending messages
	moved      moved            // nil: none
	damaged    int64            // entries that were ever found missing
}

const (
	checkpointMagic   = "WMQTIMER"
	checkpointVersion = 2
	// oldestVersion is the first that can be read: it has nothing behind the topics.
	oldestVersion = 1
)

var (
	castagnoli    = crc32.MakeTable(crc32.Castagnoli)
	errCheckpoint = errors.New("timer: the checkpoint is damaged")
)

// encode writes magic, version, numbers as varints, the lines' states and the topics, each with its
// length, what was moved and how much is damaged, and a CRC-32C of it all.
func (c *checkpoint) encode() ([]byte, error) {
	b := append([]byte(checkpointMagic), checkpointVersion)
	b = binary.BigEndian.AppendUint64(b, c.epoch)
	for _, n := range []int64{c.logEnd, c.queueOffset, c.copiesFrom, c.reached} {
		b = binary.AppendVarint(b, n)
	}
	for _, line := range c.lines {
		state, err := line.AppendBinary(nil)
		if err != nil {
			return nil, fmt.Errorf("timer: %w", err)
		}
		b = append(binary.AppendVarint(b, int64(len(state))), state...)
	}
	names := make([]string, 0, len(c.topics))
	for name := range c.topics {
		names = append(names, name)
	}
	sort.Strings(names)
	b = binary.AppendVarint(b, int64(len(names)))
	for _, name := range names {
		b = append(binary.AppendVarint(b, int64(len(name))), name...)
		b = binary.AppendVarint(b, c.topics[name])
	}
	b = binary.AppendVarint(c.moved.append(b), c.damaged)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// decodeCheckpoint reads what encode wrote.
func decodeCheckpoint(b []byte) (*checkpoint, error) {
	head := len(checkpointMagic) + 1
	if len(b) < head+12 || string(b[:len(checkpointMagic)]) != checkpointMagic {
		return nil, fmt.Errorf("%w: it is none", errCheckpoint)
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return nil, fmt.Errorf("%w: its checksum does not match", errCheckpoint)
	}
	version := body[head-1]
	if version < oldestVersion || version > checkpointVersion {
		return nil, fmt.Errorf("%w: it is of version %d, this is version %d", errCheckpoint, version, checkpointVersion)
	}
	c := &checkpoint{epoch: binary.BigEndian.Uint64(body[head:]), topics: make(map[string]int64)}
	d := decoder{b: body[head+8:]}
	for _, n := range []*int64{&c.logEnd, &c.queueOffset, &c.copiesFrom, &c.reached} {
		*n = d.number()
	}
	for i := range c.lines {
		c.lines[i] = &wheel.State{}
		if state := d.bytes(); !d.bad {
			if err := c.lines[i].Decode(state); err != nil {
				return nil, fmt.Errorf("%w: %w", errCheckpoint, err)
			}
		}
	}
	for n := d.number(); n > 0 && !d.bad; n-- {
		name := string(d.bytes())
		c.topics[name] = d.number()
	}
	if version > oldestVersion {
		c.moved, c.damaged = d.moved(), d.number()
	}
	if d.bad || len(d.b) > 0 || c.logEnd < 0 || c.queueOffset < 0 || c.copiesFrom < 0 {
		return nil, fmt.Errorf("%w: its numbers make no sense", errCheckpoint)
	}
	return c, nil
}

// decoder takes values from the front of b.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) number() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) bytes() []byte {
	n := d.number()
	if n < 0 || n > int64(len(d.b)) {
		d.bad = true
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}
