package store_test

import (
	"bytes"
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
	for i := range 3 {
		rec := keyed(i)
		rec.Internal = true // a client's is refused as soon as the store has seen that the disk is full
		if res, _ := s.Put(rec, nil); !res.OK() {
			t.Fatalf("put %d: %+v", i, res)
		}
	}
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
