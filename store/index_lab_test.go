package store_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
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
