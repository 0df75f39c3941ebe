package rocketmq

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

// begin is the instant of the recorded files, ms.
const begin = int64(1796002816000)

// world is a store of the real broker, as its timers see it.
type world struct {
	t       *testing.T
	fs      *region.Memory
	records []Reference      // of the timer topic, by queue offset
	props   map[int64][]byte // of records, by log offset
	log     []byte           // the timer log
	file    int              // size of its files, bytes
	slots   map[int64]int64  // position of the newest unit, by slot
	min     int64            // of the queue
}

func newWorld(t *testing.T) *world {
	return &world{t: t, fs: region.NewMemory(), props: make(map[int64][]byte), file: 1000, slots: make(map[int64]int64)}
}

// TimerUnits implements Source.
func (w *world) TimerUnits() (int64, int64) { return w.min, int64(len(w.records)) }

// TimerUnit implements Source.
func (w *world) TimerUnit(at int64) (Reference, error) { return w.records[at], nil }

// Properties implements Source.
func (w *world) Properties(r Reference, use func([]byte) error) error {
	return use(w.props[r.CommitLogOffset])
}

// record stores a record in the timer topic and returns its queue offset.
func (w *world) record(outMs int64, properties ...string) int64 {
	at := int64(1453 + 400*len(w.records))
	props := message.PropertyAppend(nil, message.PropertyTimerOutMs, strconv.FormatInt(outMs, 10))
	for i := 0; i < len(properties); i += 2 {
		props = message.PropertyAppend(props, properties[i], properties[i+1])
	}
	w.props[at] = props
	w.records = append(w.records, Reference{at, 367})
	return int64(len(w.records) - 1)
}

// enqueue gives a record its unit in a slot.
func (w *world) enqueue(queueOffset, slotMs int64, magic uint32) {
	if rest := w.file - len(w.log)%w.file; rest < unitSize+blankSize {
		b := binary.BigEndian.AppendUint32(nil, uint32(rest))
		b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, 0), blankMagic)
		w.log = append(append(w.log, b...), make([]byte, rest-blankSize)...)
	}
	r, prev := w.records[queueOffset], int64(-1)
	if pos, ok := w.slots[slotMs]; ok {
		prev = pos
	}
	w.slots[slotMs] = int64(len(w.log))
	b := binary.BigEndian.AppendUint32(nil, unitSize)
	b = binary.BigEndian.AppendUint64(b, uint64(prev))
	b = binary.BigEndian.AppendUint32(b, magic)
	b = binary.BigEndian.AppendUint64(b, uint64(begin))
	b = binary.BigEndian.AppendUint32(b, uint32(int32(slotMs-begin)))
	b = binary.BigEndian.AppendUint64(b, uint64(r.CommitLogOffset))
	b = binary.BigEndian.AppendUint32(b, uint32(r.Size))
	b = binary.BigEndian.AppendUint32(b, 80089049)
	w.log = append(w.log, binary.BigEndian.AppendUint64(b, 0)...)
}

// timer stores a message and enqueues it.
func (w *world) timer(outMs int64) int64 {
	at := w.record(outMs)
	w.enqueue(at, outMs, magicDefault)
	return at
}

// leave writes the files of a broker that has read all slots before readMs and knows the queue up
// to an offset.
func (w *world) leave(readMs, queueOffset int64) {
	w.t.Helper()
	for at := 0; at < len(w.log); at += w.file {
		b := make([]byte, w.file)
		copy(b, w.log[at:])
		w.write(fmt.Sprintf("%s/%020d", logDir, at), b)
	}
	c := Checkpoint{ReadMs: readMs, LogPos: int64(len(w.log)), QueueOffset: queueOffset, MasterOffset: queueOffset, Timestamp: readMs}
	if err := c.write(w.fs); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(name string, b []byte) {
	w.t.Helper()
	if err := w.fs.WriteFile(name, b); err != nil {
		w.t.Fatal(err)
	}
}

// want fails the test unless exactly these queue offsets pend before resume.
func (w *world) want(resume int64, damaged bool, offsets ...int64) {
	w.t.Helper()
	p, ok, err := Find(w.fs, w)
	if err != nil || !ok {
		w.t.Fatalf("Find: %t, %v", ok, err)
	}
	var got []int64
	if err := p.Each(func(r Reference) error {
		got = append(got, (r.CommitLogOffset-1453)/400)
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	if !slices.Equal(got, offsets) || p.Resume() != resume || (p.Damage() != nil) != damaged {
		w.t.Errorf("%v pend before %d, damage: %v; want %v before %d", got, p.Resume(), p.Damage(), offsets, resume)
	}
}
