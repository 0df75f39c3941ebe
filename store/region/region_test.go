package region_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
)

func TestFS_BothImplementationsAgree(t *testing.T) {
	t.Parallel()
	for name, fs := range map[string]region.FS{"os": region.OS{Root: t.TempDir()}, "memory": region.NewMemory(), "scratch": region.NewScratch(t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := fs.Open("a/missing", 0); err == nil {
				t.Error("a missing file without a size was opened")
			}
			r, err := fs.Open("a/b/file", 10_000)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Reserve(0, 10_000); err != nil {
				t.Fatal(err)
			}
			r.Prefault(0, 10_000)
			r.Fetch(1, 10_000_000)
			copy(r.Bytes()[9_000:], "hello")
			r.Blank(9_005, 1_000_000)
			r.Blank(9_000, 9_000)
			if err := errors.Join(r.Sync(9_000, 9_005), fs.SyncDir("a/b"), r.Close()); err != nil {
				t.Fatal(err)
			}
			again, err := fs.Open("a/b/file", 0)
			if err != nil {
				t.Fatal(err)
			}
			if b := again.Bytes(); len(b) != 10_000 || string(b[9_000:9_005]) != "hello" || b[9_005] != 0 {
				t.Errorf("%d bytes, %q", len(b), b[9_000:9_005])
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := fs.ReadFile("small"); !errors.Is(err, region.ErrNotExist) {
				t.Errorf("a missing file: %v", err)
			}
			for _, text := range []string{"first, longer", "second"} {
				if err := fs.WriteFile("small", []byte(text)); err != nil {
					t.Fatal(err)
				}
				if b, err := fs.ReadFile("small"); err != nil || string(b) != text {
					t.Errorf("%q, %v", b, err)
				}
			}
			if entries, err := fs.List("a/b"); err != nil || len(entries) != 1 || entries[0] != (region.Entry{Name: "file", Size: 10_000}) {
				t.Errorf("%+v, %v", entries, err)
			}
			if entries, err := fs.List("nowhere"); err != nil || len(entries) != 0 {
				t.Errorf("%+v, %v", entries, err)
			}
			if err := errors.Join(fs.Remove("a"), fs.Remove("a")); err != nil {
				t.Error(err)
			}
			if entries, err := fs.List("a/b"); err != nil || len(entries) != 0 {
				t.Errorf("%+v, %v", entries, err)
			}
		})
	}
}

func TestMemory_Limit_IsAFullDisk(t *testing.T) {
	t.Parallel()
	m := region.NewMemory()
	m.SetLimit(3 * 4096)
	a, err := m.Open("a", 2*4096)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Open("b", 2*4096)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Reserve(0, 2*4096), a.Reserve(0, 1)); err != nil {
		t.Fatal(err)
	}
	if err := b.Reserve(0, 2*4096); !errors.Is(err, region.ErrNoSpace) {
		t.Errorf("a fourth page of three: %v", err)
	}
	if err := m.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if err := b.Reserve(0, 2*4096); err != nil {
		t.Errorf("after a file was deleted: %v", err)
	}
	if space, _ := m.Space(); space.Used != 2*4096 || space.Ratio() < 0.6 || space.Ratio() > 0.7 {
		t.Errorf("%+v", space)
	}
}

// TestMemory_SyncAllTakesNoMemoryForWhatNobodyWrote has a large file with one byte in it.
func TestMemory_SyncAllTakesNoMemoryForWhatNobodyWrote(t *testing.T) {
	const size = 256 << 20
	m := region.NewMappedMemory()
	r, err := m.Open("large", size)
	if err != nil {
		t.Fatal(err)
	}
	r.Bytes()[size-1] = 1
	before := resident(t)
	if err := errors.Join(m.SyncAll(), m.SyncAll()); err != nil {
		t.Fatal(err)
	}
	if grown := resident(t) - before; grown > 32<<20 {
		t.Errorf("%d bytes", grown)
	}
	again, err := m.Crash().Open("large", 0)
	if err != nil {
		t.Fatal(err)
	}
	if again.Bytes()[size-1] != 1 {
		t.Error("the byte is not durable")
	}
}

// resident is the memory of this process that is no file's, bytes.
func resident(t *testing.T) (kib int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc")
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		if _, err := fmt.Sscanf(line, "RssAnon: %d", &kib); err == nil {
			return kib << 10
		}
	}
	t.Skip("no RssAnon")
	return 0
}
