package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// fuzzedStore is a small store that was closed: two log files, queues of several files.
func fuzzedStore(f *testing.F) (*region.Memory, store.Options) {
	f.Helper()
	disk := region.NewMemory()
	opts := options("")
	opts.Clock, opts.Memory = clock.NewVirtual(1_700_000_000_000), disk
	opts.MaxMessageSize, opts.CommitLogFileSize, opts.ConsumeQueueFileSize = 4<<10, 70<<10, 30*20
	opts.MaxHashSlotNum, opts.MaxIndexNum = 16, 100
	s, err := store.Open(opts)
	if err != nil {
		f.Fatal(err)
	}
	fill(f, s, 0, 200)
	if err := s.DeleteTopic("gone"); err != nil {
		f.Fatal(err)
	}
	mustClose(f, s)
	return disk, opts
}

// filesBelow names the files of a disk, sorted.
func filesBelow(t testing.TB, disk *region.Memory, dir string) (names []string) {
	t.Helper()
	entries, err := disk.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := strings.TrimPrefix(dir+"/"+e.Name, "./")
		if e.Dir {
			names = append(names, filesBelow(t, disk, name)...)
		} else {
			names = append(names, name)
		}
	}
	return names
}

// damage does to a disk what a script says. Each step takes: which file, what to do, where
// (i3), and for overwriting how many of the bytes that follow.
func damage(t *testing.T, disk *region.Memory, script []byte) {
	t.Helper()
	for len(script) >= 6 {
		files := filesBelow(t, disk, ".")
		if len(files) == 0 {
			break
		}
		name, op := files[int(script[0])%len(files)], script[1]%4
		at, n := int(script[2])<<16|int(script[3])<<8|int(script[4]), int(script[5])
		script = script[6:]
		b, err := disk.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at = min(at%(len(b)+1), len(b))
		switch op {
		case 0:
			n = min(n, len(script))
			copy(b[at:], script[:n])
			script = script[n:]
		case 1:
			clear(b[at:min(len(b), at+n*16)])
		case 2:
			b = b[:at]
		case 3:
			if err := disk.Remove(name); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := disk.WriteFile(name, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := disk.SyncAll(); err != nil {
		t.Fatal(err)
	}
}

// FuzzRecover opens damaged directories. Opening ends, what is served are records, opening
// again gives the same, and what is put afterwards is there.
func FuzzRecover(f *testing.F) {
	base, opts := fuzzedStore(f)
	f.Add([]byte{0, 0, 0, 0, 7, 4, 1, 2, 3, 4}, true)
	f.Add([]byte{1, 1, 0, 80, 0, 200}, false)
	f.Add([]byte{4, 2, 0, 1, 0, 0, 6, 3, 0, 0, 0, 0}, false)
	f.Add([]byte{3, 0, 0, 0, 9, 3, '9', '9', '9', 0, 1, 0, 200, 0, 255}, true)
	f.Fuzz(func(t *testing.T, script []byte, clean bool) {
		opts := opts
		opts.Memory = base.Crash()
		if !clean {
			if err := opts.Memory.WriteFile("abort", []byte("1")); err != nil {
				t.Fatal(err)
			}
		}
		damage(t, opts.Memory, script)
		s, err := store.Open(opts)
		if err != nil {
			if _, err := store.Open(opts); err == nil {
				t.Fatal("it was refused, and opened the next time")
			}
			return
		}
		first := dump(t, s)
		opts.Memory = opts.Memory.Crash()
		s, err = store.Open(opts)
		if err != nil {
			t.Fatalf("it was opened, and refused the next time: %v", err)
		}
		if again := dump(t, s); again != first {
			t.Fatalf("opened again it holds\n%s\nand held\n%s", again, first)
		}
		var puts []store.PutResult
		for i := range 3 {
			res, _ := s.Put(record(i), nil)
			if !res.OK() {
				t.Fatalf("put %d: %+v", i, res)
			}
			puts = append(puts, res)
		}
		mustClose(t, s)
		if s, err = store.Open(opts); err != nil {
			t.Fatal(err)
		}
		for i, p := range puts {
			u, ok := s.Queue([]byte("T"), int32(i%2)).Unit(p.QueueOffset)
			if !ok || u.CommitLogOffset != p.CommitLogOffset || u.Size != p.Size {
				t.Fatalf("put %d at %+v, its unit is %+v", i, p, u)
			}
		}
		mustClose(t, s)
	})
}

// dump tells what a store serves.
func dump(t *testing.T, s *store.Store) string {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "log [%d, %d)\n", s.MinCommitLogOffset(), s.MaxCommitLogOffset())
	for _, topic := range []string{"T", "gone"} {
		for _, q := range s.Queues(topic) {
			fmt.Fprintf(&text, "%s/%d [%d, %d)", topic, q.QueueID(), q.Min(), q.Max())
			// A damaged record may claim to be far ahead: what lies between is nothing.
			for at := max(q.Min(), q.Max()-1000); at < q.Max(); at++ {
				u, ok := q.Unit(at)
				if !ok {
					t.Fatalf("unit %d of queue %d in [%d, %d) cannot be read", at, q.QueueID(), q.Min(), q.Max())
				}
				slice, err := s.Record(u.CommitLogOffset, u.Size)
				if err != nil {
					text.WriteString(" -")
					continue
				}
				v, err := message.Parse(slice.Bytes)
				fmt.Fprintf(&text, " %d:%s:%v", u.CommitLogOffset, v.Topic, err)
				slice.Release()
			}
			text.WriteString("\n")
		}
	}
	return text.String()
}

// FuzzQueue opens a store, one of whose queue files has any content. What a reader gets from the
// queue are records or errors, and the other queue is as before.
func FuzzQueue(f *testing.F) {
	base, opts := fuzzedStore(f)
	f.Add(uint8(0), []byte{}, true)
	f.Add(uint8(1), unit(0, 441), false)
	f.Add(uint8(3), append(unit(0, 0x7FFFFFFF), unit(441, -1)...), false)
	f.Fuzz(func(t *testing.T, file uint8, content []byte, clean bool) {
		opts := opts
		opts.Memory = base.Crash()
		if !clean {
			if err := opts.Memory.WriteFile("abort", []byte("1")); err != nil {
				t.Fatal(err)
			}
		}
		files := filesBelow(t, opts.Memory, "consumequeue/T/0")
		b := make([]byte, 30*20)
		copy(b, content)
		if err := opts.Memory.WriteFile(files[int(file)%len(files)], b); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(opts)
		if err != nil {
			t.Fatal(err)
		}
		defer mustClose(t, s)
		if q := s.Queue([]byte("T"), 1); q.Min() != 0 || q.Max() != 100 {
			t.Errorf("the other queue is [%d, %d)", q.Min(), q.Max())
		}
		q, units := s.Queue([]byte("T"), 0), make([]store.Unit, 7)
		if q.Max() != 100 {
			t.Errorf("the queue ends at %d", q.Max())
		}
		for at := q.Min(); at < q.Max(); {
			n, err := q.Units(at, units)
			if err != nil || n == 0 {
				t.Fatalf("%d units at %d, %v", n, at, err)
			}
			for _, u := range units[:n] {
				slice, err := s.Record(u.CommitLogOffset, u.Size)
				if err != nil {
					continue
				}
				if v, err := message.ParseVerify(slice.Bytes); err != nil || v.CommitLogOffset != u.CommitLogOffset {
					t.Errorf("%+v reads as %+v, %v", u, v, err)
				}
				slice.Release()
			}
			at += int64(n)
		}
	})
}
