package rocketmq

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

const recordedUnit = "00000034 ffffffffffffffff 00000001 000001a22a1c2000 00000bb8 00000000000005ad 0000016f 04c60fd9 0000000000000000"

const recordedCheckpoint = "000001a22a1d6438 000000000000023c 000000000000000b 000000000000000b 0000000000000000 000001a22a1d658e 00000000000000bb"

func recorded(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFormats reads what a 5.5.0 has written.
func TestFormats(t *testing.T) {
	t.Parallel()
	u, ok := decodeUnit(recorded(t, recordedUnit))
	if want := (unit{magic: magicDefault, slotMs: 1796002819000, logOffset: 0x5ad, recordSize: 367}); !ok || u != want {
		t.Errorf("unit: %+v, %t, want %+v", u, ok, want)
	}
	if !blank(append(recorded(t, "00000040 0000000000000000 cbd43194"), make([]byte, 48)...)) {
		t.Error("the end of a file is not seen")
	}
	c, ok := decodeCheckpoint(append(recorded(t, recordedCheckpoint), make([]byte, 4040)...))
	want := Checkpoint{ReadMs: 0x1a22a1d6438, LogPos: 572, QueueOffset: 11, MasterOffset: 11, Timestamp: 0x1a22a1d658e, Counter: 187}
	if !ok || c != want {
		t.Errorf("checkpoint: %+v, %t, want %+v", c, ok, want)
	}
	// What is written is what the tests below read.
	w := newWorld(t)
	w.enqueue(w.record(1796002819000), 1796002819000, magicDefault)
	if got := hex.EncodeToString(w.log); got != strings.ReplaceAll(recordedUnit, " ", "") {
		t.Errorf("unit: %s", got)
	}
}

func TestFind_WithoutTimers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, ok, err := Find(w.fs, w); ok || err != nil {
		t.Errorf("an empty directory: %t, %v", ok, err)
	}
	w.write(CheckpointFile, []byte("short"))
	if _, ok, err := Find(w.fs, w); ok || err != nil {
		t.Errorf("a damaged checkpoint: %t, %v", ok, err)
	}
	w.leave(begin, 0)
	w.want(0, false)
}

func TestFind(t *testing.T) {
	t.Parallel()
	const (
		read   = begin + 10_000
		past   = read - 1000
		future = read + 5000
	)
	for name, c := range map[string]struct {
		fill   func(w *world)
		queue  int64 // of the checkpoint
		resume int64
		want   []int64
	}{
		"a slot is read before it counts as read": {func(w *world) {
			w.timer(past)
			w.timer(read)
			w.timer(future)
		}, 3, 3, []int64{1, 2}},
		"over several files": {func(w *world) {
			for range 60 {
				w.timer(future)
			}
			w.timer(past)
		}, 61, 61, upTo(60)},
		"cancels wait with their messages": {func(w *world) {
			w.timer(future)
			w.enqueue(w.record(future, message.PropertyTimerDelUniqKey, "A"), future, magicDefault|magicDelete)
			w.enqueue(w.record(past, message.PropertyTimerDelUniqKey, "B"), past, magicDefault|magicDelete)
		}, 3, 3, []int64{0, 1}},
		"what was rolled waits in its last slot": {func(w *world) {
			w.enqueue(w.record(future+9000), past, magicDefault|magicRoll)
			w.enqueue(w.record(future+9000, message.PropertyTimerRollTimes, "1"), future, magicDefault|magicRoll)
		}, 2, 2, []int64{1}},
		"units that the checkpoint does not know": {func(w *world) {
			w.timer(future)
			w.timer(future)
			w.timer(past)
		}, 1, 3, []int64{0, 1}},
		"a record without a unit may have been due at once": {func(w *world) {
			w.timer(future)
			w.record(past)
			w.timer(future)
			w.record(future)
		}, 1, 3, []int64{0, 2, 1}},
		"what was enqueued twice waits once": {func(w *world) {
			for range 2 {
				for i := range int64(3) {
					if len(w.records) < 3 {
						w.record(future)
					}
					w.enqueue(i, future, magicDefault)
				}
			}
		}, 3, 3, []int64{0, 1, 2}},
		"what was rolled and enqueued twice waits as it did first": {func(w *world) {
			w.record(future + 9000)
			w.record(future + 9000)
			w.enqueue(0, past, magicDefault|magicRoll)
			w.enqueue(1, future, magicDefault|magicRoll)
			w.enqueue(0, future+1000, magicDefault|magicRoll)
			w.enqueue(1, future+1000, magicDefault|magicRoll)
		}, 2, 2, []int64{1}},
		"the checkpoint is past the queue": {func(w *world) { w.timer(future) }, 9, 1, []int64{0}},
		"the queue begins later": {func(w *world) {
			w.timer(past)
			w.timer(future)
			w.min = 1
		}, 0, 2, []int64{1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.fill(w)
			w.leave(read, c.queue)
			w.want(c.resume, false, c.want...)
		})
	}
}

func upTo(n int64) (all []int64) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// TestFind_Damage has the queue speak where the timer log cannot.
func TestFind_Damage(t *testing.T) {
	t.Parallel()
	const read, past, future = begin + 10_000, begin + 9000, begin + 20_000
	for name, damage := range map[string]func(w *world){
		"without timer log":  func(w *world) { w.remove(logDir) },
		"a file is missing":  func(w *world) { w.remove(logDir + "/00000000000000001000") },
		"the end is missing": func(w *world) { w.remove(logDir + "/00000000000000002000") },
		"zeros in the middle": func(w *world) {
			b, err := w.fs.ReadFile(logDir + "/00000000000000001000")
			if err != nil {
				w.t.Fatal(err)
			}
			clear(b[104:208])
			w.write(logDir+"/00000000000000001000", b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var want []int64
			for i := range int64(40) {
				out := past + i%2*(future-past)
				if w.timer(out); out == future {
					want = append(want, i)
				}
			}
			w.enqueue(w.record(future, message.PropertyUniqKey, "A", message.PropertyRealTopic, "T"), past, magicDefault|magicRoll)
			rolled := w.record(future, message.PropertyUniqKey, "A", message.PropertyRealTopic, "T", message.PropertyTimerRollTimes, "1")
			w.enqueue(rolled, future, magicDefault|magicRoll)
			w.record(future)
			w.leave(read, rolled+1)
			damage(w)
			w.want(rolled+1, true, append(want, rolled)...)
		})
	}
}

func (w *world) remove(name string) {
	w.t.Helper()
	if err := w.fs.Remove(name); err != nil {
		w.t.Fatal(err)
	}
}

// TestBlock keeps the real broker out and lets it in again.
func TestBlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.timer(begin + 20_000)
	w.leave(begin, 1)
	w.write("timerwheel", make([]byte, 4096))
	w.write("timerwheel.52", make([]byte, 4096))
	wantBlocked(t, w.fs, false)
	if err := Block(w.fs); err != nil {
		t.Fatal(err)
	}
	w.fs = w.fs.PowerCut(rand.New(rand.NewPCG(1, 2)))
	wantBlocked(t, w.fs, true)
	w.wantNames("config", "timerwheel")
	if err := Release(w.fs, begin+30_500, 1); err != nil {
		t.Fatal(err)
	}
	w.fs = w.fs.PowerCut(rand.New(rand.NewPCG(1, 2)))
	wantBlocked(t, w.fs, false)
	w.wantNames("config")
	w.want(1, false)
	c, ok, err := ReadCheckpoint(w.fs)
	if want := (Checkpoint{ReadMs: begin + 30_000, QueueOffset: 1, MasterOffset: 1, Timestamp: begin + 30_500, Counter: 1}); c != want || !ok || err != nil {
		t.Errorf("%+v, %t, %v, want %+v", c, ok, err, want)
	}
}

func wantBlocked(t *testing.T, fs region.FS, want bool) {
	t.Helper()
	if got, err := Blocked(fs); got != want || err != nil {
		t.Errorf("blocked: %t, %v, want %t", got, err, want)
	}
}

func (w *world) wantNames(want ...string) {
	w.t.Helper()
	entries, err := w.fs.List(".")
	if err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		w.t.Errorf("%v are left, want %v", got, want)
	}
}

// FuzzFind has no content of the files crash or hang a start.
func FuzzFind(f *testing.F) {
	unit, _ := hex.DecodeString(strings.ReplaceAll(recordedUnit, " ", ""))
	check, _ := hex.DecodeString(strings.ReplaceAll(recordedCheckpoint, " ", ""))
	f.Add(append(unit, unit...), check)
	f.Add(append(unit, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0xcb, 0xd4, 0x31, 0x94), check)
	f.Fuzz(func(t *testing.T, log, check []byte) {
		w := newWorld(t)
		w.record(begin + 5000)
		w.record(begin + 9000)
		w.write(CheckpointFile, check)
		if len(log) > 0 {
			w.write(logDir+"/00000000000000000000", log)
		}
		p, ok, err := Find(w.fs, w)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		if from, to := w.TimerUnits(); p.Resume() < from || p.Resume() > to {
			t.Errorf("goes on at %d of [%d, %d)", p.Resume(), from, to)
		}
		seen := make(map[Reference]bool)
		if err := p.Each(func(r Reference) error {
			if seen[r] {
				t.Errorf("%+v pends twice", r)
			}
			seen[r] = true
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}
