package timer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"path"
	"reflect"
	"slices"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/store/region"
)

func TestParseName_TellsWhatExtentsAreNamed(t *testing.T) {
	t.Parallel()
	for _, b := range []bucket{hourBucket(1_800_000_000), dayBucket(1_800_000_000), {}} {
		for _, kind := range []string{segmentKind, runKind} {
			name := extentName(b, kind, 77)
			if f, ok := parseName(path.Base(chunkFile(name, 1_234_567))); !ok || f != (found{bucket: b, kind: kind, id: 77, chunk: 1_234_567}) {
				t.Errorf("%s: %+v, %v", name, f, ok)
			}
			if f, ok := parseName(indexFile(name)); ok != (kind == runKind) || ok && f != (found{bucket: b, kind: kind, id: 77, index: true}) {
				t.Errorf("%s: %+v, %v", indexFile(name), f, ok)
			}
		}
	}
	for _, name := range []string{"", "hour1-run-1", "hour1-run-1-x", "week1-run-1-000000", "hour1-run--1-0", "day-1-run-1-0", "hour1-run-1-index.tmp"} {
		if f, ok := parseName(name); ok {
			t.Errorf("%q is %+v", name, f)
		}
	}
}

func TestClaims_HasAllUpToTheHighestButGaps(t *testing.T) {
	t.Parallel()
	var c claim
	c.maxLog = -1
	for _, at := range []int64{10, 20, -1, 30, 40, -1, -1, 50} {
		if at < 0 {
			c.damaged()
		} else {
			c.sound(at)
		}
	}
	c.end(60)
	for at, want := range map[int64]bool{0: true, 10: true, 20: true, 25: false, 30: true, 35: true, 45: false, 50: true, 55: false, 60: false, 61: false} {
		if c.has(at) != want {
			t.Errorf("%d: %v", at, !want)
		}
	}
	all := claims{}.with(c, claim{maxLog: 26})
	for at, want := range map[int64]bool{25: true, 45: false, 50: true, 60: false} {
		if all.has(at) != want {
			t.Errorf("of two, %d: %v", at, !want)
		}
	}
	if all = all.with(claim{maxLog: 60}); len(all) != 1 || all.highest() != 60 {
		t.Errorf("%+v", all)
	}
	many := claim{maxLog: -1}
	for at := int64(0); at < 10*maxGaps; at++ {
		many.damaged()
		many.sound(at * 10)
	}
	if len(many.gaps) > maxGaps || many.has(105) || many.has(10*maxGaps*10-15) {
		t.Errorf("%d gaps", len(many.gaps))
	}
}

func memoryFar(t testing.TB) *far {
	t.Helper()
	log := logrus.New()
	log.SetOutput(io.Discard)
	p, err := openFar(Options{FS: region.NewMemory(), Dir: "timer", Log: log, ChunkSize: 256 << 10}, nil, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
	return p.(*far)
}

// TestRun_ManyRecordsComeByDue sorts an hour of many records, where those of a second come by due
// and equal ones in the order of arrival, and one of few, where all do so.
func TestRun_ManyRecordsComeByDue(t *testing.T) {
	t.Parallel()
	const hour = 500_010
	for _, records := range []int{manyRecords - 1, manyRecords} {
		f := memoryFar(t)
		f.prepare(hour*secondsPerHour, 0)
		rng := rand.New(rand.NewPCG(1, 1))
		var want []Entry
		for i := range records {
			second := hour*secondsPerHour + rng.Int64N(3)*1000
			e := Entry{Due: second*1000 + rng.Int64N(1000), LogOffset: int64(i), Size: 1 + int32(rng.IntN(40))}
			if err := f.add(e, second, bytes.Repeat([]byte{byte(i)}, int(e.Size))); err != nil {
				t.Fatal(err)
			}
			want = append(want, e)
		}
		jobs := f.prepare((hour+1)*secondsPerHour, 0)
		if len(jobs) != 1 {
			t.Fatalf("%d jobs", len(jobs))
		}
		if _, err := f.read(hour * secondsPerHour); err == nil {
			t.Error("an hour was read that is not sorted")
		}
		if err := jobs[0].Run(); err != nil {
			t.Fatal(err)
		}
		if err := f.finish(jobs[0]); err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(want, func(a, b Entry) int {
			if records < manyRecords {
				return cmp.Compare(a.Due/1_000_000, b.Due/1_000_000)
			}
			return cmp.Compare(a.Due, b.Due)
		})
		if ms, _, ok := f.firstDue(); !ok || ms != slices.MinFunc(want, func(a, b Entry) int { return cmp.Compare(a.Due, b.Due) }).Due {
			t.Errorf("%d is due first", ms)
		}
		for second := int64(hour * secondsPerHour); second < (hour+1)*secondsPerHour; second++ {
			count := f.count(second)
			r, err := f.read(second)
			if err != nil {
				t.Fatal(err)
			}
			if r == nil {
				continue
			}
			if r.inOrder() != (records >= manyRecords) {
				t.Fatalf("%d records in order: %v", records, r.inOrder())
			}
			for item, ok := r.next(); ok; item, ok = r.next() {
				if item.Entry != want[0] || item.Record[0] != byte(want[0].LogOffset) {
					t.Fatalf("%+v came, not %+v", item.Entry, want[0])
				}
				want, count = want[1:], count-1
			}
			if r.close(); r.err() != nil || count != 0 {
				t.Fatalf("%d not read: %v", count, r.err())
			}
		}
		if len(want) != 0 {
			t.Fatalf("%d records did not come", len(want))
		}
	}
}

// sum ends bytes with a right checksum, so that a fuzzer gets past it.
func sum(b []byte) []byte { return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)) }

func FuzzRunIndex(f *testing.F) {
	day := run{bucket: dayBucket(1_800_000_000), id: 3, below: 99, claims: claims{{maxLog: 7}, {maxLog: 9, gaps: []gap{{1, 4}}}}, taken: 2}
	day.parts = []stretch{
		{part: 1, bytes: 80, count: 1, minSlot: day.partBegin(1) + 5, first: never},
		{part: 23, bytes: 160, count: 2, minSlot: day.partBegin(23), first: earliest{day.partBegin(23) * 1000, day.partBegin(23)}, ordered: true},
	}
	f.Add(day.appendIndex(nil)[:40])
	hour := run{bucket: hourBucket(1_800_000_000), id: 4, below: math.MaxInt64}
	raw := hour.appendIndex(nil)
	f.Add(raw[:len(raw)-4])
	raw = day.appendIndex(nil)
	f.Add(raw[:len(raw)-4])
	f.Fuzz(func(t *testing.T, b []byte) {
		var r run
		if r.decodeIndex(sum(b)) != nil {
			return
		}
		var again run
		if err := again.decodeIndex(r.appendIndex(nil)); err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		if !reflect.DeepEqual(r, again) {
			t.Fatalf("%+v became %+v", r, again)
		}
		for second, ok := r.next(0); ok; second, ok = r.next(second + 1) {
			if !r.bucket.has(second) {
				t.Fatalf("%d is not in %s", second, r.bucket)
			}
			if r.bucket.day {
				break
			}
		}
		r.first()
		r.left()
	})
}

func FuzzManifest(f *testing.F) {
	m := manifest{chunk: 4096, hoursEnd: 86_400, nextID: 9}
	m.segments = []namedSegment{{dayBucket(1_800_000_000), 3, 80, 1, 5, 1_800_000_000, earliest{1_800_000_000_000, 1_800_000_000}}}
	m.runs = []namedRun{{hourBucket(1_800_000_000), 4, 80, 1, 30, 0}}
	f.Add(m.append(nil))
	f.Add([]byte{manifestVersion})
	f.Fuzz(func(t *testing.T, b []byte) {
		var m, again manifest
		if m.decode(b) != nil {
			return
		}
		if err := again.decode(m.append(nil)); err != nil || !reflect.DeepEqual(m, again) {
			t.Fatalf("%+v became %+v: %v", m, again, err)
		}
	})
}

// FuzzStored reads an extent of any bytes with one sound record among them, which is found.
func FuzzStored(f *testing.F) {
	f.Add([]byte{0x57, 0x46}, uint8(3), []byte("record"))
	f.Add(bytes.Repeat([]byte{0x57, 0x46, 0, 0, 0, 0, 0, 0}, 40), uint8(0), []byte{1})
	f.Fuzz(func(t *testing.T, garbage []byte, at uint8, record []byte) {
		if len(record) == 0 || len(record) > 2000 || len(garbage) > 6000 {
			return
		}
		x := extent{fs: region.NewMemory(), name: "x", chunk: 1000}
		const id = 5
		e := Entry{Due: 12_345, LogOffset: 7, Size: int32(len(record))}
		n := storedSize(len(record))
		pos := int64(at) * storedAlign
		end := pos + n + int64(len(garbage)+7)&^7
		b := make([]byte, n)
		putStored(b, &e, 12, record, id, pos)
		for _, err := range []error{x.write(0, make([]byte, end)), x.write(0, garbage), x.write(pos, b)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		from := source{extent: x, id: id, to: end, below: math.MaxInt64}
		c := from.cursor()
		c.holes = true
		damaged := int64(0)
		c.damage = func(_, n int64) { damaged += n }
		var s stored
		ours := 0
		for c.next(&s) {
			if s.Entry == e && s.slot == 12 && bytes.Equal(s.record(), record) {
				ours++
			}
		}
		if ours != 1 || c.failed != nil || damaged != end-n {
			t.Fatalf("found %d times, %d of %d bytes damaged: %v", ours, damaged, end, c.failed)
		}
	})
}
