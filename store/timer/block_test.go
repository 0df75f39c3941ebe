package timer

import (
	"errors"
	"testing"
)

// FuzzBlock reads anything as a block.
func FuzzBlock(f *testing.F) {
	entries := make([]byte, 3*entrySize)
	putEntry(entries[entrySize:], Entry{Due: 5_001, LogOffset: 1 << 40, Size: 77, Flags: Cancel}, 5)
	b := make([]byte, blockSize(3))
	putBlock(b, 5, 1000, entries)
	f.Add(b, int64(5))
	f.Add(b[:20], int64(5))
	f.Add(b, int64(6))
	f.Fuzz(func(t *testing.T, b []byte, second int64) {
		entries, prev, err := readBlock(b, second)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		if len(entries) == 0 || len(entries)%entrySize != 0 {
			t.Fatalf("%d bytes of entries", len(entries))
		}
		again := make([]byte, blockHeader+len(entries))
		putBlock(again, second, prev, entries)
		if string(again) != string(b[:len(again)]) {
			t.Fatalf("%x is written as %x", b[:len(again)], again)
		}
	})
}

func TestEntry_ComesBack(t *testing.T) {
	t.Parallel()
	var b [entrySize]byte
	for _, e := range []Entry{
		{Due: 5_000_000, LogOffset: 1<<62 + 3, Size: 1<<31 - 1, Flags: Cancel | CancelRef},
		{Due: 5_001_000}, {Due: 4_967_232, Size: 1}, {Due: 5_032_767},
	} {
		putEntry(b[:], e, 5000)
		if got := entryOf(b[:], 5000); got != e {
			t.Errorf("%+v comes back as %+v", e, got)
		}
	}
}
