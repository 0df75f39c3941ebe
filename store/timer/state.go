package timer

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// State is what a checkpoint names of a Timeline: exactly what Open brings back.
type State struct {
	Hand    int64 // first second that is not done
	NearEnd int64 // first second that is far
	LogMax  int64 // end of the last record of the CommitLog that a near entry names
	// The TimerLog: size of its files in bytes, its end, the positions of the files' first bytes.
	ChunkSize int32
	LogEnd    int64
	Chunks    []int64
	Slots     []SlotState // of the seconds that have near entries, in order
	Far       []byte      // of the far part, in its own form; nil: there is none
}

// SlotState names the near entries of a second.
type SlotState struct {
	Second     int64
	Head, Tail int64 // positions of the newest and the oldest block
	Oldest     int64 // lowest log offset of an entry
	Count      int32 // of entries
}

const (
	stateMagic   = "WMQT"
	stateVersion = 1
)

// AppendBinary appends the state in the form that Decode reads: magic, version, then numbers as
// varints, each slot relative to the one before, and a CRC-32C of it all.
func (s *State) AppendBinary(b []byte) ([]byte, error) {
	begin := len(b)
	b = append(b, stateMagic...)
	b = append(b, stateVersion)
	for _, v := range []int64{s.Hand, s.NearEnd, s.LogMax, int64(s.ChunkSize), s.LogEnd, int64(len(s.Chunks))} {
		b = binary.AppendVarint(b, v)
	}
	for _, c := range s.Chunks {
		b = binary.AppendVarint(b, c)
	}
	b = binary.AppendVarint(b, int64(len(s.Slots)))
	var last SlotState
	for _, v := range s.Slots {
		b = binary.AppendVarint(b, v.Second-last.Second)
		b = binary.AppendVarint(b, v.Head-last.Head)
		b = binary.AppendVarint(b, v.Head-v.Tail)
		b = binary.AppendVarint(b, v.Oldest-last.Oldest)
		b = binary.AppendVarint(b, int64(v.Count))
		last = v
	}
	far := int64(len(s.Far))
	if s.Far == nil {
		far = -1
	}
	b = append(binary.AppendVarint(b, far), s.Far...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b[begin:], castagnoli)), nil
}

// Decode reads what AppendBinary wrote. The error wraps ErrDamaged when b is anything else.
func (s *State) Decode(b []byte) error {
	if len(b) < len(stateMagic)+5 || string(b[:len(stateMagic)]) != stateMagic {
		return fmt.Errorf("%w: no state of a Timeline", ErrDamaged)
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return fmt.Errorf("%w: the checksum of a state does not match", ErrDamaged)
	}
	if v := body[len(stateMagic)]; v != stateVersion {
		return fmt.Errorf("timer: a state of version %d, this is version %d", v, stateVersion)
	}
	var read State
	d := numbers{b: body[len(stateMagic)+1:]}
	read.decode(&d)
	if d.bad || len(d.b) != 0 {
		return fmt.Errorf("%w: the numbers of a state make no sense", ErrDamaged)
	}
	*s = read
	return nil
}

func (s *State) decode(d *numbers) {
	s.Hand, s.NearEnd, s.LogMax = d.next(0, maxSecond), d.next(0, maxSecond), d.next(0, math.MaxInt64)
	s.ChunkSize, s.LogEnd = int32(d.next(maxBlock, math.MaxInt32)), d.next(0, math.MaxInt64)
	for n := d.length(1); n > 0 && !d.bad; n-- {
		low := int64(0)
		if len(s.Chunks) > 0 {
			low = s.Chunks[len(s.Chunks)-1] + 1
		}
		base := d.next(low, s.LogEnd)
		d.bad = d.bad || base%int64(s.ChunkSize) != 0
		s.Chunks = append(s.Chunks, base)
	}
	var last SlotState
	for n := d.length(5); n > 0 && !d.bad; n-- {
		last = decodeSlot(d, s, last)
		s.Slots = append(s.Slots, last)
	}
	if n := d.next(-1, int64(len(d.b))); n >= 0 && !d.bad {
		d.bad = n > int64(len(d.b))
		if !d.bad {
			s.Far, d.b = append([]byte{}, d.b[:n]...), d.b[n:]
		}
	}
}

func decodeSlot(d *numbers, s *State, last SlotState) SlotState {
	low := int64(1)
	if len(s.Slots) == 0 {
		low = 0
	}
	var v SlotState
	v.Second = last.Second + d.next(low, maxSecond-last.Second)
	v.Head = last.Head + d.next(-last.Head, s.LogEnd-1-last.Head)
	v.Tail = v.Head - d.next(0, v.Head)
	v.Oldest = last.Oldest + d.next(-last.Oldest, math.MaxInt64-last.Oldest)
	v.Count = int32(d.next(1, math.MaxInt32))
	return v
}

// maxSecond is the last second whose ms can be counted.
const maxSecond = math.MaxInt64/1000 - secondsPerHour

// numbers reads varints and checks their ranges.
type numbers struct {
	b   []byte
	bad bool
}

// next is the next number, which lies within [low, high]; low after anything else.
func (d *numbers) next(low, high int64) int64 {
	if d.bad {
		return low
	}
	v, n := binary.Varint(d.b)
	if n <= 0 || v < low || v > high {
		d.bad = true
		return low
	}
	d.b = d.b[n:]
	return v
}

// length is a number of things of at least size bytes, no more than there are bytes for.
func (d *numbers) length(size int) int64 { return d.next(0, int64(len(d.b)/size)) }
