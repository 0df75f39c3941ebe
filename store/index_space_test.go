package store

import (
	"errors"
	"math"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

// TestIndex_FullDisk_LeavesTheReserve has a disk that counts as full while it has space: that
// is for the broker's own records. The index waits, and misses nothing later.
func TestIndex_FullDisk_LeavesTheReserve(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	disk.SetLimit(64 << 20)
	opts := quietOptions("")
	opts.Memory, opts.MaxMessageSize = disk, 16<<10
	opts.Retention = DefaultRetention()
	opts.Retention.WarnRatio, opts.Retention.ForceEnabled, opts.Retention.IntervalMs = 1e-9, false, 20
	s := started(t, opts)
	defer s.Close()
	eventually(t, "the disk is full", func() bool { return s.Stats().DiskFull != "" })

	rec := message.Record{
		Topic: "T", Body: []byte("due"), Properties: message.PropertyAppend(nil, message.PropertyKeys, "k"), Internal: true,
	}
	if res, _ := s.Put(&rec, nil); !res.OK() {
		t.Fatalf("%+v", res)
	}
	found := func() int {
		result := s.Query(KeyQuery{Topic: "T", Key: "k", MaxNum: 1, End: math.MaxInt64})
		defer result.Release()
		return len(result.Records)
	}
	if n := found(); n != 0 || !errors.Is(s.Stats().IndexError, region.ErrNoSpace) {
		t.Errorf("found %d, %v", n, s.Stats().IndexError)
	}
	if files, err := disk.List(indexDir); err != nil || len(files) != 0 {
		t.Errorf("the index took space: %v, %v", files, err)
	}
	disk.SetLimit(math.MaxInt64)
	eventually(t, "it is found", func() bool { return found() == 1 })
	if err := s.Stats().IndexError; err != nil {
		t.Error(err)
	}
}

// TestIndex_FullDisk_InTheMiddleOfARecord finds no room for the second file between the keys of
// one record, several times: each key is there once in the end.
func TestIndex_FullDisk_InTheMiddleOfARecord(t *testing.T) {
	t.Parallel()
	opts := quietOptions("")
	opts.Memory, opts.MaxHashSlotNum, opts.MaxIndexNum = region.NewMemory(), 4, 5
	s, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	full := false
	s.index.full = func() bool { return full }
	var records []message.Record
	for range 3 {
		records = append(records, message.Record{
			Topic: "T", Body: []byte("x"), Properties: message.PropertyAppend(nil, message.PropertyKeys, "a b c d e f"),
		})
	}
	if res, _ := s.PutBatch(records, nil); !res.OK() {
		t.Fatalf("%+v", res)
	}
	full = true
	s.index.build(s.published.Load, nil)
	for range 20 {
		full = false
		// One file at a time.
		s.index.full = func() bool { defer func() { full = true }(); return full }
		s.index.build(s.published.Load, nil)
	}
	if err := s.index.err(); err != nil || s.indexBehind() != 0 {
		t.Fatalf("%v, %d bytes behind", err, s.indexBehind())
	}
	count := make(map[int64]int)
	for _, f := range s.index.files {
		for n := uint32(1); n < f.head.next; n++ {
			count[f.unit(n).offset()]++
		}
	}
	if len(count) != 3 {
		t.Errorf("%d records, want 3", len(count))
	}
	for at, n := range count {
		if n != 6 {
			t.Errorf("the record at %d has %d units, want 6", at, n)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
