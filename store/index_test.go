package store_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// recorded is a log and the index that the real broker 5.5.0 made of it, with 16 slots and 20
// units a file (test/cases, -record-index).
const recorded = "testdata/index-5.5.0"

const (
	smallSlots = 16
	smallUnits = 20
)

func indexOptions(dir string) store.Options {
	opts := options(dir)
	opts.MaxHashSlotNum, opts.MaxIndexNum = smallSlots, smallUnits
	return opts
}

// copyRecorded makes a store directory of the recorded log, and of the index unless it is to
// be built.
func copyRecorded(t *testing.T, withIndex bool) (dir string) {
	t.Helper()
	dir = t.TempDir()
	log, err := os.ReadFile(filepath.Join(recorded, "commitlog"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"commitlog", "index"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "commitlog/"+fmt.Sprintf("%020d", 0), string(append(log, make([]byte, 128<<10-len(log))...)))
	for name, b := range readIndexFiles(t, recorded) {
		if withIndex {
			write(t, dir, "index/"+name, string(b))
		}
	}
	return dir
}

// readIndexFiles returns the index files of a directory by name.
func readIndexFiles(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, strings.Repeat("[0-9]", 17)))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = b
	}
	return files
}

func inOrder(files map[string][]byte) (list [][]byte) {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		list = append(list, files[name])
	}
	return list
}

// TestIndex_EqualsTheRealBrokers builds the index of a recorded log and compares every byte
// with the files that the real broker wrote.
func TestIndex_EqualsTheRealBrokers(t *testing.T) {
	t.Parallel()
	dir := copyRecorded(t, false)
	mustClose(t, mustOpen(t, indexOptions(dir)))
	want := inOrder(readIndexFiles(t, recorded))
	got := inOrder(readIndexFiles(t, filepath.Join(dir, "index")))
	if len(got) != len(want) || len(want) < 4 {
		t.Fatalf("%d files, want %d", len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("file %d differs:\n got %x\nwant %x", i, got[i], want[i])
		}
	}
}

// TestIndex_OfTheRealBroker_IsReadAndContinued opens a directory that the real broker closed,
// with its index and without sizes that fit, and goes on in it.
func TestIndex_OfTheRealBroker_IsReadAndContinued(t *testing.T) {
	t.Parallel()
	dir := copyRecorded(t, true)
	opts := indexOptions(dir)
	s := mustOpen(t, opts)
	if got := s.Stats().IndexBehind; got != 0 {
		t.Errorf("%d bytes are indexed again", got)
	}
	verifyIndex(t, s)
	for name, b := range readIndexFiles(t, recorded) {
		now := readIndexFiles(t, filepath.Join(dir, "index"))[name]
		if !bytes.Equal(b, now) {
			t.Errorf("%s was changed by opening", name)
		}
	}
	putKeyed(t, s, 0, 30)
	verifyIndex(t, s)
	mustClose(t, s)
	verifyIndexFiles(t, opts)

	other := options(copyRecorded(t, true))
	s = mustOpen(t, other)
	verifyIndex(t, s)
	mustClose(t, s)
}

// keyed is a record with a key of its own, one that three share, and tags.
func keyed(n int) *message.Record {
	rec := record(n)
	rec.Properties = message.PropertyAppend(nil, message.PropertyUniqKey, fmt.Sprintf("ID%030d", n))
	rec.Properties = message.PropertyAppend(rec.Properties, message.PropertyKeys, fmt.Sprintf("k%d shared%d", n, n/3))
	rec.Properties = message.PropertyAppend(rec.Properties, message.PropertyTags, fmt.Sprintf("Tag%d", n%5))
	return rec
}

func putKeyed(t testing.TB, s *store.Store, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		if res, _ := s.Put(keyed(i), nil); !res.OK() {
			t.Fatalf("put %d: %+v", i, res)
		}
	}
}

// found are the log offsets of what a query finds.
func found(s *store.Store, q store.KeyQuery) (offsets []int64) {
	if q.MaxNum == 0 {
		q.MaxNum = 64
	}
	if q.End == 0 {
		q.End = math.MaxInt64
	}
	result := s.Query(q)
	defer result.Release()
	for _, r := range result.Records {
		v, err := message.ParseVerify(r.Bytes)
		if err != nil {
			return []int64{-1}
		}
		offsets = append(offsets, v.CommitLogOffset)
	}
	return offsets
}

// keysOf are the queries that find a record.
func keysOf(v *message.View) (list []store.KeyQuery) {
	topic := string(v.Topic)
	keys := message.PropertyIndexKeys(v.Properties)
	if len(keys.UniqKey) > 0 {
		list = append(list, store.KeyQuery{Topic: topic, Key: string(keys.UniqKey)})
	}
	for key := range strings.FieldsFuncSeq(string(keys.Keys), func(r rune) bool { return r == ' ' }) {
		list = append(list, store.KeyQuery{Topic: topic, Key: key})
	}
	if len(keys.Tags) > 0 {
		list = append(list, store.KeyQuery{Topic: topic, Key: string(keys.Tags), Tags: true})
	}
	return list
}

// verifyIndex compares what is found by key with what the log holds.
func verifyIndex(t testing.TB, s *store.Store) {
	t.Helper()
	want := make(map[store.KeyQuery][]int64)
	if err := s.Scan(0, func(v *message.View) error {
		for _, q := range keysOf(v) {
			if offsets := want[q]; len(offsets) == 0 || offsets[len(offsets)-1] != v.CommitLogOffset {
				want[q] = append(offsets, v.CommitLogOffset)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for q, offsets := range want {
		newest := offsets[max(0, len(offsets)-64):]
		if got := found(s, q); !slices.Equal(got, newest) {
			t.Errorf("%+v: found %d, want %d", q, got, newest)
		}
	}
}

// verifyIndexFiles opens the store once more and compares the units in its index files with
// the keys in its log: each is there, once, in order.
func verifyIndexFiles(t *testing.T, opts store.Options) {
	t.Helper()
	s := mustOpen(t, opts)
	if got := s.Stats().IndexBehind; got != 0 {
		t.Errorf("%d bytes are indexed again", got)
	}
	var want []int64
	if err := s.Scan(0, func(v *message.View) error {
		for range keysOf(v) {
			want = append(want, v.CommitLogOffset)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	verifyIndex(t, s)
	mustClose(t, s)
	var got []int64
	be := binary.BigEndian
	for _, b := range inOrder(readIndexFiles(t, filepath.Join(opts.Dir, "index"))) {
		if be.Uint64(b[16:]) != be.Uint64(unitOf(b, 1)[4:]) || be.Uint64(b[24:]) != be.Uint64(unitOf(b, be.Uint32(b[36:])-1)[4:]) {
			t.Errorf("a header is wrong: %x", b[:40])
		}
		for n := uint32(1); n < be.Uint32(b[36:]); n++ {
			got = append(got, int64(be.Uint64(unitOf(b, n)[4:])))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d units, want %d:\n got %d\nwant %d", len(got), len(want), got, want)
	}
}

func unitOf(b []byte, n uint32) []byte { return b[40+4*smallSlots+20*int(n):][:20] }

func TestQuery_ByEveryKindOfKey(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(10_000)
	opts := indexOptions(t.TempDir())
	opts.Clock = v
	s := mustOpen(t, opts)
	defer mustClose(t, s)
	put := func(topic, properties string, flag int32) int64 {
		v.Set(v.NowMillis() + 700)
		rec := record(0)
		rec.Topic, rec.SysFlag = topic, flag
		rec.Properties = []byte(strings.NewReplacer("=", "\x01", ";", "\x02").Replace(properties))
		res, _ := s.Put(rec, nil)
		if !res.OK() {
			t.Fatal(res)
		}
		return res.CommitLogOffset
	}
	var at []int64
	for _, p := range []string{
		"UNIQ_KEY=u1;KEYS=a b;TAGS=T1;", // stored at 10,700
		"UNIQ_KEY=u2;KEYS=b;TAGS=T1;",   // 11,400
		"KEYS= twice  twice ;",          // 12,100
		"KEYS=AaAa;", "KEYS=BBBB;",      // one hash; 12,800 and 13,500
		"TAGS=键;", "KEYS=T#T1;", // 14,200 and 14,900
	} {
		at = append(at, put("T", p, 0))
	}
	other := put("U", "KEYS=a;", 0)
	put("T", "KEYS=rolledBack;UNIQ_KEY=rb;", message.SysFlagRollback)
	half := put("T", "KEYS=half;", message.SysFlagPrepared)
	for name, c := range map[string]struct {
		q    store.KeyQuery
		want []int64
	}{
		"key":                      {store.KeyQuery{Topic: "T", Key: "a"}, at[:1]},
		"unique key":               {store.KeyQuery{Topic: "T", Key: "u2"}, at[1:2]},
		"shared key, oldest first": {store.KeyQuery{Topic: "T", Key: "b"}, at[:2]},
		"the newest one":           {store.KeyQuery{Topic: "T", Key: "b", MaxNum: 1}, at[1:2]},
		"none wanted":              {store.KeyQuery{Topic: "T", Key: "b", MaxNum: -1}, nil},
		"tags":                     {store.KeyQuery{Topic: "T", Key: "T1", Tags: true}, at[:2]},
		"tags are no key":          {store.KeyQuery{Topic: "T", Key: "T1"}, nil},
		"a key like tags":          {store.KeyQuery{Topic: "T", Key: "T#T1"}, at[6:7]},
		"no ASCII":                 {store.KeyQuery{Topic: "T", Key: "键", Tags: true}, at[5:6]},
		"twice in one record":      {store.KeyQuery{Topic: "T", Key: "twice"}, at[2:3]},
		"empty":                    {store.KeyQuery{Topic: "T", Key: ""}, nil},
		"collision":                {store.KeyQuery{Topic: "T", Key: "AaAa"}, at[3:4]},
		"the other":                {store.KeyQuery{Topic: "T", Key: "BBBB"}, at[4:5]},
		"a third, not there":       {store.KeyQuery{Topic: "T", Key: "AaBB"}, nil},
		"list of keys":             {store.KeyQuery{Topic: "T", Key: "a b"}, nil},
		"other topic":              {store.KeyQuery{Topic: "U", Key: "a"}, []int64{other}},
		"unknown topic":            {store.KeyQuery{Topic: "V", Key: "a"}, nil},
		"rolled back":              {store.KeyQuery{Topic: "T", Key: "rolledBack"}, nil},
		"half":                     {store.KeyQuery{Topic: "T", Key: "half"}, []int64{half}},
		"from its instant":         {store.KeyQuery{Topic: "T", Key: "b", Begin: 11_400}, at[1:2]},
		"behind it":                {store.KeyQuery{Topic: "T", Key: "b", Begin: 11_401}, nil},
		"up to its instant":        {store.KeyQuery{Topic: "T", Key: "b", End: 10_700}, at[:1]},
		"before it":                {store.KeyQuery{Topic: "T", Key: "b", End: 10_699}, nil},
		"backwards":                {store.KeyQuery{Topic: "T", Key: "b", Begin: 20_000, End: 10}, nil},
		"all of time":              {store.KeyQuery{Topic: "T", Key: "u1", Begin: math.MinInt64}, at[:1]},
	} {
		if got := found(s, c.q); !slices.Equal(got, c.want) {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	result := s.Query(store.KeyQuery{Topic: "T", Key: "nothing", MaxNum: 1, End: math.MaxInt64})
	if result.LastOffset != half || result.LastTimestamp != v.NowMillis() {
		t.Errorf("the newest indexed record is %d of %d, want %d of %d", result.LastOffset, result.LastTimestamp, half, v.NowMillis())
	}
}

func TestQuery_IsBoundedByMaxMsgsNumBatch(t *testing.T) {
	t.Parallel()
	opts := indexOptions(t.TempDir())
	opts.MaxMsgsNumBatch = 7
	s := mustOpen(t, opts)
	defer mustClose(t, s)
	putKeyed(t, s, 0, 100)
	got := found(s, store.KeyQuery{Topic: "T", Key: "Tag0", Tags: true, MaxNum: 1000})
	if len(got) != 7 || !slices.IsSorted(got) {
		t.Errorf("found %d", got)
	}
}

// TestIndex_Disabled_StaysAsItIs has a store whose index was built before.
func TestIndex_Disabled_StaysAsItIs(t *testing.T) {
	t.Parallel()
	opts := indexOptions(t.TempDir())
	s := mustOpen(t, opts)
	putKeyed(t, s, 0, 10)
	mustClose(t, s)
	opts.MessageIndexDisabled = true
	s = mustOpen(t, opts)
	putKeyed(t, s, 10, 10)
	if len(found(s, store.KeyQuery{Topic: "T", Key: "k9"})) != 1 || len(found(s, store.KeyQuery{Topic: "T", Key: "k10"})) != 0 {
		t.Error("the index has something else than what was put while it was enabled")
	}
	mustClose(t, s)
	opts.MessageIndexDisabled = false
	mustClose(t, mustOpen(t, opts))
	verifyIndexFiles(t, opts)
}

// TestIndex_SurvivesEveryKindOfEnd damages the index, or what belongs to it, and opens the
// store twice: it must hold exactly the keys of the log.
func TestIndex_SurvivesEveryKindOfEnd(t *testing.T) {
	t.Parallel()
	const n = 40
	for name, damage := range map[string]func(t *testing.T, dir string, names []string){
		"nothing":              func(*testing.T, string, []string) {},
		"directory deleted":    func(t *testing.T, dir string, _ []string) { remove(t, dir, "index") },
		"first file deleted":   func(t *testing.T, dir string, names []string) { remove(t, dir, names[0]) },
		"a middle one deleted": func(t *testing.T, dir string, names []string) { remove(t, dir, names[2]) },
		"last file deleted":    func(t *testing.T, dir string, names []string) { remove(t, dir, names[len(names)-1]) },
		"all but the last": func(t *testing.T, dir string, names []string) {
			for _, name := range names[:len(names)-1] {
				remove(t, dir, name)
			}
		},
		"first file empty": func(t *testing.T, dir string, names []string) { truncate(t, dir, names[0], 0) },
		"a file cut":       func(t *testing.T, dir string, names []string) { truncate(t, dir, names[1], 100) },
		"last file cut":    func(t *testing.T, dir string, names []string) { truncate(t, dir, names[len(names)-1], 60) },
		"last file longer": func(t *testing.T, dir string, names []string) { truncate(t, dir, names[len(names)-1], 8192) },
		"first header lost": func(t *testing.T, dir string, names []string) {
			overwrite(t, filepath.Join(dir, names[0]), 0, make([]byte, 40))
		},
		"last header lost": func(t *testing.T, dir string, names []string) {
			overwrite(t, filepath.Join(dir, names[len(names)-1]), 16, make([]byte, 24))
		},
		"header of noise": func(t *testing.T, dir string, names []string) {
			overwrite(t, filepath.Join(dir, names[1]), 0, bytes.Repeat([]byte{0xEE}, 40))
		},
		"meta deleted":       func(t *testing.T, dir string, _ []string) { remove(t, dir, "config/wheelmqStore.json") },
		"checkpoint deleted": func(t *testing.T, dir string, _ []string) { remove(t, dir, "checkpoint") },
		"meta and checkpoint": func(t *testing.T, dir string, _ []string) {
			remove(t, dir, "config/wheelmqStore.json")
			remove(t, dir, "checkpoint")
		},
		"foreign files": func(t *testing.T, dir string, _ []string) {
			write(t, dir, "index/readme", "of the operator")
			write(t, dir, "index/99991231235959999", strings.Repeat("x", 504))
			write(t, dir, "index/00010101000000000", strings.Repeat("y", 504))
		},
	} {
		for _, clean := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, clean %v", name, clean), func(t *testing.T) {
				t.Parallel()
				opts := indexOptions(t.TempDir())
				s := mustOpen(t, opts)
				putKeyed(t, s, 0, n)
				verifyIndex(t, s)
				opts.Dir = endOf(t, s, opts.Dir, clean)
				damage(t, opts.Dir, indexNames(t, opts.Dir))
				s = mustOpen(t, opts)
				verifyIndex(t, s)
				putKeyed(t, s, n, 10)
				verifyIndex(t, s)
				mustClose(t, s)
				verifyIndexFiles(t, opts)
			})
		}
	}
}

// endOf closes the store and returns its directory, or a copy made while it ran.
func endOf(t *testing.T, s *store.Store, dir string, clean bool) string {
	t.Helper()
	if !clean {
		copied := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		dir = copied
	}
	mustClose(t, s)
	return dir
}

// indexNames are the index files below dir, oldest first.
func indexNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	for name := range readIndexFiles(t, filepath.Join(dir, "index")) {
		names = append(names, "index/"+name)
	}
	if len(names) < 4 {
		t.Fatalf("%d index files are too few for the damages", len(names))
	}
	slices.Sort(names)
	return names
}

func truncate(t *testing.T, dir, name string, size int64) {
	t.Helper()
	if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
		t.Fatal(err)
	}
}

// TestIndex_AheadOfTheLog_IsCut loses the end of the log: no key of it may stay, since other
// records will lie there.
func TestIndex_AheadOfTheLog_IsCut(t *testing.T) {
	t.Parallel()
	for _, keep := range []int{0, 1, 3, 17, 39} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			t.Parallel()
			opts := indexOptions(t.TempDir())
			s := mustOpen(t, opts)
			putKeyed(t, s, 0, keep)
			end := s.MaxCommitLogOffset()
			putKeyed(t, s, keep, 40-keep)
			mustClose(t, s)
			write(t, opts.Dir, "abort", "1")
			remove(t, opts.Dir, "checkpoint")
			log := filepath.Join(opts.Dir, "commitlog", fmt.Sprintf("%020d", 0))
			overwrite(t, log, end, make([]byte, 128<<10-end))
			s = mustOpen(t, opts)
			if got := s.MaxCommitLogOffset(); got != end {
				t.Fatalf("the log ends at %d, want %d", got, end)
			}
			verifyIndex(t, s)
			putKeyed(t, s, 100, 20)
			if got := found(s, store.KeyQuery{Topic: "T", Key: "k39"}); len(got) != 0 {
				t.Errorf("a key that is lost is found at %d", got)
			}
			mustClose(t, s)
			verifyIndexFiles(t, opts)
		})
	}
}

// TestIndex_OfDeletedLogFiles_GoesWithThem deletes the head of the log.
func TestIndex_OfDeletedLogFiles_GoesWithThem(t *testing.T) {
	t.Parallel()
	opts := indexOptions(t.TempDir())
	s := mustOpen(t, opts)
	putKeyed(t, s, 0, 400)
	mustClose(t, s)
	before := len(indexNames(t, opts.Dir))
	remove(t, opts.Dir, "commitlog/"+fmt.Sprintf("%020d", 0))
	s = mustOpen(t, opts)
	if s.MinCommitLogOffset() == 0 {
		t.Fatal("the log has one file only")
	}
	if got := len(indexNames(t, opts.Dir)); got >= before || got < 4 {
		t.Errorf("%d of %d index files are left", got, before)
	}
	if got := found(s, store.KeyQuery{Topic: "T", Key: "k0"}); len(got) != 0 {
		t.Errorf("a deleted record is found at %d", got)
	}
	verifyIndex(t, s)
	mustClose(t, s)
}

// TestIndex_Crash_KeepsWhatACheckpointNamed cuts the power at several moments.
func TestIndex_Crash_KeepsWhatACheckpointNamed(t *testing.T) {
	t.Parallel()
	opts := indexOptions("")
	opts.Memory = region.NewMemory()
	s := mustOpen(t, opts)
	for i := range 10 {
		putKeyed(t, s, 7*i, 7)
		verifyIndex(t, s)
		crashed := opts
		crashed.Memory = opts.Memory.Crash()
		again := mustOpen(t, crashed)
		verifyIndex(t, again)
		mustClose(t, again)
		if i%3 == 0 {
			mustClose(t, s)
			s = mustOpen(t, opts)
		}
	}
	mustClose(t, s)
}

// TestIndex_OfTheRealBrokersDefaultSize opens files of 420,000,040 bytes that nobody tells the
// sizes of, and takes little of the disk for them.
func TestIndex_OfTheRealBrokersDefaultSize(t *testing.T) {
	t.Parallel()
	opts := options(t.TempDir())
	opts.MaxHashSlotNum, opts.MaxIndexNum = 5_000_000, 20_000_000
	s := mustOpen(t, opts)
	putKeyed(t, s, 0, 20)
	mustClose(t, s)
	remove(t, opts.Dir, "config")
	s = mustOpen(t, indexOptions(opts.Dir))
	if got := s.Stats().IndexBehind; got != 0 {
		t.Errorf("%d bytes are indexed again", got)
	}
	verifyIndex(t, s)
	putKeyed(t, s, 20, 20)
	verifyIndex(t, s)
	mustClose(t, s)
	files, err := filepath.Glob(filepath.Join(opts.Dir, "index", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() != 420_000_040 {
		t.Errorf("%d bytes", info.Size())
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Blocks*512 > 64<<20 {
		t.Errorf("%d bytes of the disk", st.Blocks*512)
	}
}

// TestIndex_FullDisk_WaitsAndGoesOn lets the index find no room: the store goes on, says so,
// and nothing lacks once there is room.
func TestIndex_FullDisk_WaitsAndGoesOn(t *testing.T) {
	t.Parallel()
	opts := options("")
	opts.Memory, opts.MaxIndexNum = region.NewMemory(), 200_000
	s := mustOpen(t, opts)
	defer mustClose(t, s)
	fill(t, s, 0, 2)
	opts.Memory.SetLimit(1)
	putKeyed(t, s, 0, 3)
	if got := found(s, store.KeyQuery{Topic: "T", Key: "k1"}); len(got) != 0 {
		t.Fatalf("found %d without room", got)
	}
	if stats := s.Stats(); stats.IndexError == nil || stats.IndexBehind == 0 || stats.FlushError != nil {
		t.Errorf("without room: %+v", stats)
	}
	opts.Memory.SetLimit(0)
	until(t, func() bool { return len(found(s, store.KeyQuery{Topic: "T", Key: "k1"})) == 1 })
	verifyIndex(t, s)
	until(t, func() bool { stats := s.Stats(); return stats.IndexError == nil && stats.IndexBehind == 0 })
}

// TestQuery_WhileBuilding queries from several goroutines while records are put, across many
// files of the index.
func TestQuery_WhileBuilding(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, indexOptions(t.TempDir()))
	defer mustClose(t, s)
	const n = 600
	var done, readers sync.WaitGroup
	var put [n]chan struct{}
	for i := range put {
		put[i] = make(chan struct{})
	}
	done.Go(func() {
		for i := range n {
			if res, _ := s.Put(keyed(i), nil); !res.OK() {
				t.Errorf("put %d: %+v", i, res)
			}
			close(put[i])
		}
	})
	for r := range 3 {
		readers.Go(func() {
			for i := r; i < n; i += 3 {
				<-put[i]
				if got := found(s, store.KeyQuery{Topic: "T", Key: fmt.Sprintf("k%d", i)}); len(got) != 1 {
					t.Errorf("k%d is found %d times once it was put", i, len(got))
				}
			}
		})
	}
	done.Wait()
	readers.Wait()
	verifyIndex(t, s)
}

// TestIndex_FileNames_AreInTheOrderOfTheFiles makes many files within one millisecond.
func TestIndex_FileNames_AreInTheOrderOfTheFiles(t *testing.T) {
	t.Parallel()
	opts := indexOptions(t.TempDir())
	opts.Clock = clock.NewVirtual(1_700_000_000_999)
	s := mustOpen(t, opts)
	putKeyed(t, s, 0, 60)
	verifyIndex(t, s)
	mustClose(t, s)
	verifyIndexFiles(t, opts)
	for _, name := range indexNames(t, opts.Dir) {
		if len(name) != len("index/")+17 {
			t.Errorf("%s", name)
		}
	}
}

// TestStore_Flush_LeavesTheIndexToTheFlusher makes records durable again and again: the index,
// whose changes are all over its file, is not written each time, and a crash costs none of it.
func TestStore_Flush_LeavesTheIndexToTheFlusher(t *testing.T) {
	t.Parallel()
	opts := indexOptions("")
	opts.Memory = region.NewMemory()
	s := mustOpen(t, opts)
	defer mustClose(t, s)
	putKeyed(t, s, 0, 40)
	verifyIndex(t, s)
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	crashed := opts
	crashed.Memory = opts.Memory.Crash()
	if files, err := crashed.Memory.List("index"); err != nil || len(files) != 0 {
		t.Errorf("%d index files are durable, want none: %v", len(files), err)
	}
	again := mustOpen(t, crashed)
	defer mustClose(t, again)
	verify := found(again, store.KeyQuery{Topic: "T", Key: "k39"})
	if len(verify) != 1 {
		t.Errorf("a key of what was flushed is found %d times", len(verify))
	}
	verifyIndex(t, again)
}
