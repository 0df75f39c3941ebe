package store_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// corrupted is how many records the damaged stores hold, over four log files and five files of
// each of two queues.
const corrupted = 990

// wreck is a store directory whose broker ended, and where its records are.
type wreck struct {
	dir  string
	puts []store.PutResult
}

func makeWreck(t *testing.T, dir string) wreck {
	t.Helper()
	s := mustOpen(t, options(dir))
	w := wreck{dir: dir}
	for i := range corrupted {
		res, _ := s.Put(record(i), nil)
		if !res.OK() {
			t.Fatalf("put %d: %+v", i, res)
		}
		w.puts = append(w.puts, res)
	}
	if err := s.FlushStep(); err != nil {
		t.Fatal(err)
	}
	mustClose(t, s)
	return w
}

func (w wreck) copyTo(t *testing.T, dir string) wreck {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(w.dir)); err != nil {
		t.Fatal(err)
	}
	return wreck{dir, w.puts}
}

const logFileSize = 128 << 10

// logAt overwrites the log at an offset.
func (w wreck) logAt(t *testing.T, at int64, b []byte) {
	t.Helper()
	overwrite(t, w.logFile(at), at%logFileSize, b)
}

func (w wreck) logFile(at int64) string {
	return filepath.Join(w.dir, "commitlog", fmt.Sprintf("%020d", at-at%logFileSize))
}

// flip turns a bit of record i, a number of bytes from its beginning.
func (w wreck) flip(t *testing.T, i int, at int64) {
	t.Helper()
	b, err := os.ReadFile(w.logFile(w.puts[i].CommitLogOffset))
	if err != nil {
		t.Fatal(err)
	}
	offset := w.puts[i].CommitLogOffset + at
	w.logAt(t, offset, []byte{b[offset%logFileSize] ^ 1})
}

// queueFile is file n of queue 0.
func (w wreck) queueFile(n int) string {
	return filepath.Join(w.dir, "consumequeue", "T", "0", fmt.Sprintf("%020d", n*100*20))
}

// touches tells whether record i has bytes in a range of the log.
func (w wreck) touches(i int, from, to int64) bool {
	at := w.puts[i].CommitLogOffset
	return at < to && at+int64(w.puts[i].Size) > from
}

func (w wreck) end() int64 {
	last := w.puts[len(w.puts)-1]
	return last.CommitLogOffset + int64(last.Size)
}

func (w wreck) truncate(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func (w wreck) write(t *testing.T, name string, b []byte) {
	t.Helper()
	write(t, w.dir, name, string(b))
}

// checkpoint is one that names an offset, and a time.
func checkpoint(offset, stamp int64) []byte {
	b := make([]byte, 4096)
	for at, v := range map[int]int64{0: stamp, 8: stamp, 32: offset, 40: offset} {
		binary.BigEndian.PutUint64(b[at:], uint64(v))
	}
	return b
}

// corruption is one damage and what is left after it.
type corruption struct {
	name   string
	damage func(t *testing.T, w wreck)
	// gone tells which records are lost; nil: none. cut: the first of those lost at the end,
	// whose queue offsets are free again.
	gone func(w wreck, i int) bool
	cut  int
	// refused is what the store says when it does not open; then nothing has changed.
	refused string
}

func only(n int) func(wreck, int) bool { return func(_ wreck, i int) bool { return i == n } }

// TestCorruption_KeepsWhatIsNotDamaged has every file of a store damaged in every way, after a
// clean end and after a crash.
func TestCorruption_KeepsWhatIsNotDamaged(t *testing.T) {
	t.Parallel()
	base := makeWreck(t, t.TempDir())
	for _, table := range [][]corruption{logCorruptions(), queueCorruptions(), smallFileCorruptions()} {
		for _, c := range table {
			for _, clean := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, clean end %v", c.name, clean), func(t *testing.T) {
					t.Parallel()
					w := base.copyTo(t, filepath.Join(t.TempDir(), "store"))
					if !clean {
						w.write(t, "abort", []byte("1"))
					}
					c.damage(t, w)
					c.check(t, w)
				})
			}
		}
	}
}

func (c corruption) check(t *testing.T, w wreck) {
	t.Helper()
	if c.refused != "" {
		before := contents(t, w.dir)
		s, err := store.Open(options(w.dir))
		if err == nil {
			mustClose(t, s)
			t.Fatal("it was opened")
		}
		if !strings.Contains(err.Error(), c.refused) {
			t.Errorf("it says %q, want %q in it", err, c.refused)
		}
		if after := contents(t, w.dir); after != before {
			t.Errorf("it was changed from\n%s\nto\n%s", before, after)
		}
		return
	}
	s := mustOpen(t, options(w.dir))
	c.verify(t, s, w, corrupted)
	again := w.copyTo(t, filepath.Join(t.TempDir(), "again"))
	next := corrupted
	if c.cut > 0 {
		next = c.cut
	}
	fill(t, s, next, 10)
	mustClose(t, s)
	s = mustOpen(t, options(w.dir))
	c.verify(t, s, w, next+10)
	mustClose(t, s)
	s = mustOpen(t, options(again.dir))
	c.verify(t, s, w, corrupted)
	mustClose(t, s)
}

// verify wants every record below n that is not gone, in its place, and the queues' ends.
func (c corruption) verify(t *testing.T, s *store.Store, w wreck, n int) {
	t.Helper()
	end := n
	if c.cut > 0 && n == corrupted {
		end = c.cut
	}
	for i := range end {
		lost := c.gone != nil && i < corrupted && c.gone(w, i)
		if body, err := readBody(s, i); err != nil && !lost {
			t.Fatalf("record %d: %v", i, err)
		} else if err == nil && !bytes.Equal(body, record(i).Body) {
			t.Fatalf("record %d is %.20q", i, body)
		}
	}
	for id := range 2 {
		if q := s.Queue([]byte("T"), int32(id)); q.Max() != int64(end+1-id)/2 {
			t.Fatalf("queue %d ends at %d, want %d", id, q.Max(), (end+1-id)/2)
		}
	}
}

// readBody reads record i through its queue.
func readBody(s *store.Store, i int) ([]byte, error) {
	q := s.Queue([]byte("T"), int32(i%2))
	if q == nil {
		return nil, fmt.Errorf("queue %d is missing", i%2)
	}
	u, ok := q.Unit(int64(i / 2))
	if !ok {
		return nil, fmt.Errorf("unit %d of queue %d is missing, it is [%d, %d)", i/2, i%2, q.Min(), q.Max())
	}
	slice, err := s.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return nil, err
	}
	defer slice.Release()
	v, err := message.ParseVerify(slice.Bytes)
	return bytes.Clone(v.Body), err
}

// contents tells files and what is in them, but for the lock.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "lock" {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(&text, "%s %d %x\n", path, len(b), crc32.ChecksumIEEE(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func logCorruptions() []corruption {
	return []corruption{
		{name: "no damage", damage: func(*testing.T, wreck) {}},
		{name: "torn tail", cut: corrupted - 1, damage: func(t *testing.T, w wreck) { w.logAt(t, w.end()-50, make([]byte, 50)) }},
		{name: "half-written record", cut: corrupted - 1, damage: func(t *testing.T, w wreck) {
			w.logAt(t, w.puts[corrupted-1].CommitLogOffset+40, make([]byte, w.puts[corrupted-1].Size-40))
		}},
		{name: "garbage past the end", damage: func(t *testing.T, w wreck) { w.logAt(t, w.end(), bytes.Repeat([]byte{0xEE}, 5000)) }},
		{name: "an old record past the end", damage: func(t *testing.T, w wreck) {
			b, err := os.ReadFile(w.logFile(0))
			if err != nil {
				t.Fatal(err)
			}
			w.logAt(t, w.end(), b[:w.puts[1].CommitLogOffset])
		}},
		{name: "zeroed page inside", gone: func(w wreck, i int) bool { return w.touches(i, 397_312, 401_408) },
			damage: func(t *testing.T, w wreck) { w.logAt(t, 397_312, make([]byte, 4096)) }},
		{name: "bit flip in a body", gone: only(980), damage: func(t *testing.T, w wreck) { w.flip(t, 980, 100) }},
		{name: "bit flip in a topic", gone: only(980), damage: func(t *testing.T, w wreck) { w.flip(t, 980, 89+int64(len(record(980).Body))) }},
		{name: "bit flip in a size", gone: only(980), damage: func(t *testing.T, w wreck) { w.flip(t, 980, 2) }},
		{name: "bit flip in a magic", gone: only(980), damage: func(t *testing.T, w wreck) { w.flip(t, 980, 5) }},
		{name: "zeroed page in an old file", gone: func(w wreck, i int) bool { return w.touches(i, 50_000, 54_096) },
			damage: func(t *testing.T, w wreck) { w.logAt(t, 50_000, make([]byte, 4096)) }},
		{name: "bit flip in an old file", gone: only(10), damage: func(t *testing.T, w wreck) { w.flip(t, 10, 100) }},
		{name: "bit flip in an old file and no queues", gone: only(10), damage: func(t *testing.T, w wreck) {
			w.flip(t, 10, 100)
			remove(t, w.dir, "consumequeue")
		}},
		{name: "middle file missing", refused: "commitlog/00000000000000131072 is missing",
			damage: func(t *testing.T, w wreck) { remove(t, w.dir, "commitlog/00000000000000131072") }},
		{name: "middle file short", refused: "commitlog/00000000000000131072 has 5000 bytes",
			damage: func(t *testing.T, w wreck) { w.truncate(t, w.logFile(logFileSize), 5000) }},
		{name: "middle file empty", refused: "commitlog/00000000000000131072 has 0 bytes",
			damage: func(t *testing.T, w wreck) { w.truncate(t, w.logFile(logFileSize), 0) }},
		{name: "last file short", refused: "commitlog/00000000000000393216 has 100000 bytes",
			damage: func(t *testing.T, w wreck) { w.truncate(t, w.logFile(3*logFileSize), 100_000) }},
		{name: "a file that is none of the log", refused: "commitlog/notes is not a log file",
			damage: func(t *testing.T, w wreck) { w.write(t, "commitlog/notes", []byte("x")) }},
		{name: "an empty file behind the last", damage: func(t *testing.T, w wreck) { w.write(t, "commitlog/00000000000000524288", nil) }},
		{name: "first file missing", gone: func(w wreck, i int) bool { return w.puts[i].CommitLogOffset < logFileSize },
			damage: func(t *testing.T, w wreck) { remove(t, w.dir, "commitlog/00000000000000000000") }},
	}
}
