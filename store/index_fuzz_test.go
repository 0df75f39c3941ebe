package store_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// FuzzIndexRecovery overwrites a part of one index file and opens the store, after a clean end
// or another, with its meta file or without. Opening and queries end, find nothing false, and
// what is put then is found. After a crash the last file's header and slots are made anew.
func FuzzIndexRecovery(f *testing.F) {
	f.Add(uint8(0), uint16(0), []byte{0, 0, 0, 0}, false, true)
	f.Add(uint8(3), uint16(36), []byte{0xFF, 0xFF, 0xFF, 0xFF}, true, true)
	f.Add(uint8(9), uint16(104), make([]byte, 400), true, false)
	f.Add(uint8(1), uint16(120), []byte{0x7F, 0, 0, 1, 0, 0, 0, 0}, false, false)
	f.Fuzz(func(t *testing.T, file uint8, at uint16, damage []byte, clean, keepMeta bool) {
		const n = 30
		disk := region.NewMemory()
		opts := indexOptions("")
		opts.Memory, opts.Clock = disk, clock.NewVirtual(1_700_000_000_000)
		s := mustOpen(t, opts)
		putKeyed(t, s, 0, n)
		mustClose(t, s)
		if !clean {
			if err := disk.WriteFile("abort", []byte("1")); err != nil {
				t.Fatal(err)
			}
		}
		if !keepMeta {
			if err := disk.Remove("config/wheelmqStore.json"); err != nil {
				t.Fatal(err)
			}
		}
		files, err := disk.List("index")
		if err != nil || len(files) < 4 {
			t.Fatalf("%d index files, %v", len(files), err)
		}
		hurt := int(file) % len(files)
		r, err := disk.Open("index/"+files[hurt].Name, 0)
		if err != nil {
			t.Fatal(err)
		}
		from := int(at) % len(r.Bytes())
		to := from + copy(r.Bytes()[from:], damage)

		s = mustOpen(t, opts)
		defer mustClose(t, s)
		findsNothingFalse(t, s, n)
		const units = 40 + 4*smallSlots
		if !clean && hurt == len(files)-1 && keepMeta && to <= units {
			verifyIndex(t, s)
		}
		putKeyed(t, s, n, 10)
		for i := n; i < n+10; i++ {
			if got := found(s, store.KeyQuery{Topic: "T", Key: fmt.Sprintf("k%d", i)}); len(got) != 1 {
				t.Errorf("k%d, put after the damage, is found %d times", i, len(got))
			}
		}
	})
}

// findsNothingFalse asks for every key: a record is found by a key it has, or not at all.
func findsNothingFalse(t *testing.T, s *store.Store, n int) {
	t.Helper()
	for i := range n {
		key := fmt.Sprintf("k%d", i)
		result := s.Query(store.KeyQuery{Topic: "T", Key: key, MaxNum: 64, End: math.MaxInt64})
		for _, r := range result.Records {
			v, err := message.ParseVerify(r.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			if keys := message.PropertyIndexKeys(v.Properties); string(keys.Keys) != fmt.Sprintf("k%d shared%d", i, i/3) {
				t.Errorf("%s finds %q", key, keys.Keys)
			}
		}
		if len(result.Records) > 1 {
			t.Errorf("%s finds %d records", key, len(result.Records))
		}
		result.Release()
	}
}
