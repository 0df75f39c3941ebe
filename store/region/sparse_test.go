package region_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wheelmq/wheelmq/store/region"
)

// sparseFile writes a file with holes, and returns what it holds. It ends in the midst of a page.
func sparseFile(t *testing.T, path string) []byte {
	t.Helper()
	want := make([]byte, 1<<20+100)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(len(want))); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{5, 70_000, 70_001, 512 << 10, len(want) - 3} {
		copy(want[at:], "xy")
		if _, err := f.WriteAt([]byte("xy"), int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	return want
}

func TestOS_ReadOnly_MapsWhatAFileHolds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	want := sparseFile(t, path)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{len(want), 70_001, 1} {
		b, err := region.MapData(f, size, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, want[:size]) {
			t.Errorf("%d bytes are not the file's", size)
		}
		if err := unix.Munmap(b); err != nil {
			t.Error(err)
		}
	}
	b, err := region.MapData(f, len(want), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	b[5], b[300_000] = 'z', 'z'
	if err := unix.Munmap(b); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file changed, %v", err)
	}
}

// TestOS_ReadOnly_FullMemoryDisk reads files of a full tmpfs, where holes have no page to be read into.
func TestOS_ReadOnly_FullMemoryDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a small disk cannot be mounted here, which needs root: %v", err)
	}
	defer func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	want := sparseFile(t, filepath.Join(dir, "f"))
	if err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 2<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	for name, fs := range map[string]region.FS{"read only": region.OS{Root: dir, ReadOnly: true}, "scratch": region.NewScratch(dir)} {
		r, err := fs.Open("f", 0)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(r.Bytes(), want) {
			t.Errorf("%s: the bytes are not the file's", name)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
