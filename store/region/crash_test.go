package region_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
)

func mapped(t *testing.T, fs region.FS, name string, size int) region.Region {
	t.Helper()
	r, err := fs.Open(name, size)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMemory_Crash_KeepsOnlyWhatWasSynced(t *testing.T) {
	t.Parallel()
	m := region.NewMemory()
	r := mapped(t, m, "dir/file", 8)
	copy(r.Bytes(), "abcdefgh")
	if err := r.Sync(2, 4); err != nil {
		t.Fatal(err)
	}
	if entries, _ := m.Crash().List("dir"); len(entries) != 0 {
		t.Errorf("a name that was not synced survived: %v", entries)
	}
	if err := m.SyncDir("dir"); err != nil {
		t.Fatal(err)
	}
	left := mapped(t, m.Crash(), "dir/file", 0)
	if got := string(left.Bytes()); got != "\x00\x00cd\x00\x00\x00\x00" {
		t.Errorf("%q survived", got)
	}
}

// TestMemory_PowerCut_LeavesEveryMixture cuts often and requires to see each outcome that a
// disk may leave, and none that it may not.
func TestMemory_PowerCut_LeavesEveryMixture(t *testing.T) {
	t.Parallel()
	const page = 4096
	m := region.NewMemory()
	r := mapped(t, m, "dir/file", 2*page)
	if err := errors.Join(r.Sync(0, 2*page), m.SyncDir("dir"), m.WriteFile("small", []byte("old"))); err != nil {
		t.Fatal(err)
	}
	copy(r.Bytes(), bytes.Repeat([]byte{1}, 2*page))
	mapped(t, m, "dir/new", page)
	if err := m.Remove("small"); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for seed := range uint64(300) {
		clone := m.PowerCut(rand.New(rand.NewPCG(seed, 0)))
		b := mapped(t, clone, "dir/file", 0).Bytes()
		for i, name := range []string{"first", "second"} {
			switch n := bytes.Count(b[i*page:(i+1)*page], []byte{1}); {
			case n == 0:
				seen[name+" lost"] = true
			case n == page:
				seen[name+" kept"] = true
			case n%512 == 0:
				seen["torn"] = true
			default:
				t.Fatalf("%d bytes of a page were kept", n)
			}
		}
		if b[0] != b[page] {
			seen["apart"] = true
		}
		if _, err := clone.ReadFile("small"); err != nil {
			seen["removed"] = true
		} else {
			seen["not removed"] = true
		}
		seen["new of no size"] = seen["new of no size"] || sizeOf(t, clone, "new") == 0
		seen["new of full size"] = seen["new of full size"] || sizeOf(t, clone, "new") == page
		seen["no new"] = seen["no new"] || sizeOf(t, clone, "new") < 0
	}
	for _, want := range []string{
		"first lost", "first kept", "second lost", "second kept", "torn", "apart", "removed", "not removed",
		"new of no size", "new of full size", "no new",
	} {
		if !seen[want] {
			t.Errorf("never seen: %s", want)
		}
	}
}

// sizeOf is the size of a file in dir, -1 when there is none.
func sizeOf(t *testing.T, fs region.FS, name string) int64 {
	t.Helper()
	entries, err := fs.List("dir")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name == name {
			return e.Size
		}
	}
	return -1
}

// TestMemory_WriteFile_IsOldOrNew cuts at each of its sync points.
func TestMemory_WriteFile_IsOldOrNew(t *testing.T) {
	t.Parallel()
	m := region.NewMemory()
	content := func(n byte) []byte { return bytes.Repeat([]byte{n}, 3000) }
	if err := m.WriteFile("dir/small", content(1)); err != nil {
		t.Fatal(err)
	}
	seed, points := uint64(0), 0
	seen := make(map[byte]bool)
	m.OnSync(func() {
		points++
		for range 50 {
			seed++
			b, err := m.PowerCut(rand.New(rand.NewPCG(seed, 0))).ReadFile("dir/small")
			if err != nil || !bytes.Equal(b, content(1)) && !bytes.Equal(b, content(2)) {
				t.Fatalf("%d bytes, %v", len(b), err)
			}
			seen[b[0]] = true
		}
	})
	if err := m.WriteFile("dir/small", content(2)); err != nil {
		t.Fatal(err)
	}
	if points != 2 || !seen[1] || !seen[2] {
		t.Errorf("%d sync points, outcomes %v", points, seen)
	}
	if b, err := m.Crash().ReadFile("dir/small"); err != nil || !bytes.Equal(b, content(2)) {
		t.Errorf("after it: %v, %v", b[:1], err)
	}
}
