package timer_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer"
)

func encoded(t testing.TB, s *timer.State) []byte {
	t.Helper()
	b, err := s.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestState_ComesBack(t *testing.T) {
	t.Parallel()
	_, full := checkpointed(t)
	full.Far = []byte("what the far part says")
	empty := timer.State{ChunkSize: 4096}
	for _, s := range []*timer.State{full, &empty} {
		b := encoded(t, s)
		var got timer.State
		if err := got.Decode(b); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(&got, s) {
			t.Errorf("%+v is not %+v", got, s)
		}
		for i := range b {
			damaged := append([]byte(nil), b...)
			damaged[i] ^= 1 << (i % 8)
			if err := got.Decode(damaged); !errors.Is(err, timer.ErrDamaged) {
				t.Errorf("byte %d flipped: %v", i, err)
			}
			if err := got.Decode(b[:i]); !errors.Is(err, timer.ErrDamaged) {
				t.Errorf("cut to %d bytes: %v", i, err)
			}
		}
		if !reflect.DeepEqual(&got, s) {
			t.Error("what was damaged has changed the state")
		}
	}
}

func TestState_OfANewerVersionIsRefused(t *testing.T) {
	t.Parallel()
	b := encoded(t, &timer.State{ChunkSize: 4096})
	b[4]++
	if err := new(timer.State).Decode(sealed(b[:len(b)-4])); err == nil || errors.Is(err, timer.ErrDamaged) {
		t.Errorf("%v", err)
	}
}

// sealed has the checksum of the bytes behind them.
func sealed(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b[:len(b):len(b)], crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// FuzzState decodes anything that has the right checksum, and opens what it names.
func FuzzState(f *testing.F) {
	for _, s := range []timer.State{
		{ChunkSize: 4096},
		{
			Hand: noon, NearEnd: noon + 7200, LogMax: 500, ChunkSize: 4096, LogEnd: 5000, Chunks: []int64{0, 4096},
			Slots: []timer.SlotState{{Second: noon, Head: 4096, Tail: 0, Oldest: 7, Count: 70}, {Second: noon + 5, Head: 64, Tail: 64, Count: 1}},
			Far:   []byte{},
		},
	} {
		b := encoded(f, &s)
		f.Add(b[:len(b)-4])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s, again timer.State
		if err := s.Decode(sealed(b)); err != nil {
			return
		}
		if err := again.Decode(encoded(t, &s)); err != nil || !reflect.DeepEqual(s, again) {
			t.Fatalf("%+v comes back as %+v, %v", s, again, err)
		}
		if s.ChunkSize > 1<<16 || len(s.Slots) > 8 {
			return
		}
		disk := region.NewMemory()
		for _, base := range s.Chunks[:min(len(s.Chunks), 4)] {
			if _, err := disk.Open(fmt.Sprintf("%s/%020d", logDir, base), int(s.ChunkSize)); err != nil {
				t.Fatal(err)
			}
		}
		s.Far = nil
		tl, err := timer.Open(options(disk), &s, s.LogMax)
		if err != nil {
			if !errors.Is(err, timer.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		for _, slot := range s.Slots {
			if _, err := read(tl, slot.Second); slot.Second < s.NearEnd && !errors.Is(err, timer.ErrDamaged) {
				t.Fatalf("files of zeros give %v", err)
			}
		}
		if _, err := tl.State(); err != nil {
			t.Fatal(err)
		}
		if err := tl.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
