package store

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net/netip"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

// memoryIndexFile is a new file whose bytes can be looked at.
func memoryIndexFile(tb testing.TB, g indexGeometry) *indexFile {
	tb.Helper()
	r, err := region.NewMemory().Open("f", int(g.size()))
	if err != nil {
		tb.Fatal(err)
	}
	f := &indexFile{name: "f", region: r, b: r.Bytes(), indexGeometry: g, head: indexHeader{next: 1}}
	if err := f.reserve(g.units - 1); err != nil {
		tb.Fatal(err)
	}
	return f
}

func TestIndexHash_IsNeverNegative(t *testing.T) {
	t.Parallel()
	for java, want := range map[int32]uint32{0: 0, 7: 7, -7: 7, math.MaxInt32: math.MaxInt32, math.MinInt32: 0, math.MinInt32 + 1: math.MaxInt32} {
		if got := indexHash(java); got != want {
			t.Errorf("indexHash(%d) = %d, want %d", java, got, want)
		}
	}
}

// TestIndexFile_Cut_EqualsNeverWritten cuts a file at every unit: it must equal one that was
// written only so far, but for what nobody reads.
func TestIndexFile_Cut_EqualsNeverWritten(t *testing.T) {
	t.Parallel()
	g := indexGeometry{slots: 5, units: 20}
	write := func(n uint32) *indexFile {
		f := memoryIndexFile(t, g)
		for i := uint32(1); i < n; i++ {
			f.put(i*2654435761>>1, int64(i/2)*100, 1_000_000+int64(i)*900)
		}
		f.writeHeader()
		return f
	}
	whole := uint32(20)
	for next := uint32(1); next <= whole; next++ {
		f, want := write(whole), write(next)
		if !f.cut(next, math.MaxInt64) {
			t.Fatalf("cut at %d: not intact", next)
		}
		if next > 1 {
			f.head.endTimestamp = want.head.endTimestamp
			if f.head != want.head {
				t.Errorf("cut at %d: header %+v, want %+v", next, f.head, want.head)
			}
		}
		from, to := int64(indexHeaderSize), f.unitAt(next)
		if string(f.b[from:to]) != string(want.b[from:to]) {
			t.Errorf("cut at %d: slots or units differ", next)
		}
	}
	for _, spoil := range []func(*indexFile){
		func(f *indexFile) { clear(f.unit(7)) },
		func(f *indexFile) { f.unit(7)[0] = 0xFF },
		func(f *indexFile) { binary.BigEndian.PutUint64(f.unit(7)[4:], 1<<40) },
	} {
		f := write(whole)
		spoil(f)
		if f.cut(whole, 1<<30) {
			t.Error("a damaged unit passes for an intact one")
		}
	}
}

// TestIndex_LongRebuild_SaysHowFarItIs turns the clock while the end of the log is far.
func TestIndex_LongRebuild_SaysHowFarItIs(t *testing.T) {
	t.Parallel()
	log, lines := test.NewNullLogger()
	v := clock.NewVirtual(1_000)
	ix := &index{clock: v, logger: log}
	r := progressReport{ix: ix, started: v.NowMillis()}
	const end = 1 << 30
	for _, step := range []struct{ at, built, want int64 }{
		{1_999, 0, 0}, {2_000, 1, 1}, {2_500, 2, 1}, {3_000, 3, 2}, {9_000, end - 1, 2},
	} {
		v.Set(step.at)
		ix.built.Store(step.built)
		r.tell(end)
		if got := int64(len(lines.AllEntries())); got != step.want {
			t.Errorf("at %d: %d lines, want %d", step.at, got, step.want)
		}
	}
	r.done()
	if last := lines.LastEntry(); last.Message != "the index is built" || last.Data["took"] != int64(8_000) {
		t.Errorf("at the end: %q %v", last.Message, last.Data)
	}
	quick := progressReport{ix: ix, started: v.NowMillis()}
	quick.tell(end)
	quick.done()
	if got := len(lines.AllEntries()); got != 3 {
		t.Errorf("%d lines, want 3: a quick one says nothing", got)
	}
}

// FuzzIndexFile reads files of arbitrary bytes: reading ends, stays inside, and never finds
// more than was asked for.
func FuzzIndexFile(f *testing.F) {
	sound := memoryIndexFile(f, indexGeometry{slots: 4, units: 12})
	for i := range uint32(11) {
		sound.put(i*7, int64(i)*100, int64(i)*1500)
	}
	sound.writeHeader()
	f.Add(append([]byte(nil), sound.b...), uint32(4), uint32(7), int64(0), int64(math.MaxInt64))
	f.Add(make([]byte, 400), uint32(1), uint32(0), int64(math.MinInt64), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, b []byte, slots, hash uint32, begin, end int64) {
		rest := int64(len(b)) - indexHeaderSize - int64(slots)*indexSlotSize
		g := indexGeometry{slots, uint32(max(0, rest/indexUnitSize))}
		if !g.valid() {
			return
		}
		r, err := region.NewMemory().Open("f", int(g.size()))
		if err != nil {
			t.Fatal(err)
		}
		copy(r.Bytes(), b)
		file := &indexFile{region: r, b: r.Bytes(), indexGeometry: g}
		file.readHeader()
		if !file.sound() {
			// A marked file is read by its mark, whatever its header says.
			file.head.next = g.units
		}
		file.overlaps(begin, end)
		steps := 0
		for unit := uint32(0); ; {
			var found []int64
			found, unit = file.find(make([]int64, 0, 3), hash, unit, begin, end)
			if len(found) > 3 {
				t.Fatalf("found %d, wanted 3", len(found))
			}
			if steps++; unit == 0 || unit >= g.units {
				break
			}
			if steps > int(g.units) {
				t.Fatal("does not end")
			}
		}
		if n := file.firstFrom(begin, file.head.next); n < 1 || n > file.head.next {
			t.Fatalf("firstFrom says %d of %d", n, file.head.next)
		}
		if err := file.reserve(g.units - 1); err != nil {
			t.Fatal(err)
		}
		if !file.cut(file.head.next, math.MaxInt64) || file.head.next == 1 {
			return
		}
		file.head.beginTimestamp, file.head.endTimestamp = 0, int64(file.unit(file.head.next-1).seconds())*1000
		if !file.sound() {
			t.Fatalf("an intact file is not sound after a cut: %+v", file.head)
		}
	})
}

// BenchmarkIndex is the builder's work for one record with a unique key, one key and tags.
func BenchmarkIndex(b *testing.B) {
	log := logrus.New()
	log.SetOutput(io.Discard)
	s, err := Open(Options{
		Dir: b.TempDir(), Clock: clock.Real{}, Log: log, StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"),
		TagsCode: func(string, []byte) int64 { return 0 },
	})
	if err != nil {
		b.Fatal(err)
	}
	const n = 100_000
	for i := range n {
		props := message.PropertyAppend(nil, message.PropertyUniqKey, fmt.Sprintf("7F000001%024d", i))
		props = message.PropertyAppend(props, message.PropertyKeys, fmt.Sprintf("order-%d", i))
		props = message.PropertyAppend(props, message.PropertyTags, "TagA")
		props = message.PropertyAppend(props, message.PropertyWait, "true")
		rec := &message.Record{Topic: "BenchmarkTopic", Body: make([]byte, 128), Properties: props}
		if res, _ := s.Put(rec, nil); !res.OK() {
			b.Fatal(res)
		}
	}
	end := s.published.Load()
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += n {
		s.index.built.Store(0)
		for s.index.built.Load() < end {
			if err := s.index.batch(end); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.StopTimer()
	s.index.cursor.leave()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
