package rocketmq

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"strconv"

	"github.com/wheelmq/wheelmq/store/region"
)

const (
	logDir   = "timerlog"
	unitSize = 52
	// blankSize is what the end of a file is marked with when no unit fits.
	blankSize  = 16
	blankMagic = 0xCBD43194

	magicDefault = 1 << 0
	magicRoll    = 1 << 1
	magicDelete  = 1 << 2
	magicKnown   = 0xF
)

var errDamagedLog = errors.New("rocketmq: the timer log is damaged")

// unit is one entry of the timer log: a message, or what cancels one, in a slot of the wheel.
type unit struct {
	pos        int64 // in the timer log, bytes
	magic      uint32
	slotMs     int64
	logOffset  int64 // of its record in the CommitLog, bytes
	recordSize int32
}

// decodeUnit reads a unit; false: it is none.
//
// i4 size 52, i8 position of the unit before it in its slot, i4 magic, i8 enqueue ms, i4 from
// there to the slot ms, i8 log offset, i4 record size, i4 hash of the real topic, i8 0.
func decodeUnit(b []byte) (u unit, ok bool) {
	u.magic = binary.BigEndian.Uint32(b[12:])
	u.slotMs = int64(binary.BigEndian.Uint64(b[16:])) + int64(int32(binary.BigEndian.Uint32(b[24:])))
	u.logOffset = int64(binary.BigEndian.Uint64(b[28:]))
	u.recordSize = int32(binary.BigEndian.Uint32(b[36:]))
	return u, binary.BigEndian.Uint32(b) == unitSize && u.magic&^magicKnown == 0 && u.magic&magicDefault != 0 &&
		u.logOffset >= 0 && u.recordSize > 0
}

// blank tells whether the rest of a file is marked as unused.
func blank(b []byte) bool {
	return len(b) >= blankSize && int64(binary.BigEndian.Uint32(b)) == int64(len(b)) && binary.BigEndian.Uint32(b[12:]) == blankMagic
}

type logFile struct {
	name  string
	start int64
}

// logFiles are the files of the timer log, ascending. The error wraps errDamagedLog when one is
// missing between others.
func logFiles(tree region.FS) (files []logFile, err error) {
	entries, err := tree.List(logDir)
	if err != nil {
		return nil, fmt.Errorf("rocketmq: %w", err)
	}
	var size int64
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	for _, e := range entries {
		start, err := strconv.ParseInt(e.Name, 10, 64)
		if err != nil || len(e.Name) != 20 || start < 0 || e.Dir || e.Size == 0 {
			continue
		}
		if n := len(files); n > 0 && (start != files[n-1].start+size || e.Size != size) {
			return nil, fmt.Errorf("%w: %s does not follow %s of %d bytes", errDamagedLog, e.Name, files[n-1].name, size)
		}
		files, size = append(files, logFile{logDir + "/" + e.Name, start}), e.Size
	}
	return files, nil
}

// eachUnit visits the units of the timer log in order. end is behind the last one.
func eachUnit(tree region.FS, files []logFile, visit func(unit) error) (end int64, err error) {
	for _, f := range files {
		var more bool
		if end, more, err = f.each(tree, visit); err != nil || !more {
			return end, err
		}
	}
	return end, nil
}

// each visits a file's units. more: it is full, the next file goes on.
func (f *logFile) each(tree region.FS, visit func(unit) error) (end int64, more bool, err error) {
	r, err := tree.Open(f.name, 0)
	if err != nil {
		return f.start, false, fmt.Errorf("rocketmq: %w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	b := r.Bytes()
	at := 0
	for ; at+unitSize <= len(b); at += unitSize {
		if blank(b[at:]) {
			return f.start + int64(len(b)), true, nil
		}
		u, ok := decodeUnit(b[at:])
		if !ok {
			return f.start + int64(at), false, nil
		}
		u.pos = f.start + int64(at)
		if err := visit(u); err != nil {
			return u.pos, false, err
		}
	}
	if at < len(b) && !blank(b[at:]) {
		return f.start + int64(at), false, nil
	}
	return f.start + int64(len(b)), true, nil
}
