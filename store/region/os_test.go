package region_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wheelmq/wheelmq/store/region"
)

// TestOS_SparseFile_TakesSpaceOnlyWhenReserved has a file as the real broker makes it: full
// size, no blocks. What it holds must stay.
func TestOS_SparseFile_TakesSpaceOnlyWhenReserved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	const size = 1 << 20
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	r, err := region.OS{Root: dir}.Open("file", size)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := blocks(t, path); n >= size/2 {
		t.Errorf("opening reserved %d bytes", n)
	}
	if err := r.Reserve(0, size/2); err != nil {
		t.Fatal(err)
	}
	if got := string(r.Bytes()[:4]); got != "kept" {
		t.Errorf("it holds %q", got)
	}
	if n := blocks(t, path); n < size/2 || n >= size {
		t.Errorf("%d bytes have blocks, want about %d", n, size/2)
	}
}

func blocks(t *testing.T, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}

// TestOS_NoSpace_IsAnErrorOfReserve asks for more than any disk has.
func TestOS_NoSpace_IsAnErrorOfReserve(t *testing.T) {
	t.Parallel()
	const size = 1 << 43
	r, err := region.OS{Root: t.TempDir()}.Open("huge", size)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Reserve(0, size); !errors.Is(err, region.ErrNoSpace) {
		t.Errorf("reserving more than the disk has: %v", err)
	}
}

func TestOS_ReadOnly_ChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	fs := region.OS{Root: dir, ReadOnly: true}
	r, err := fs.Open("file", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if string(r.Bytes()) != "kept" {
		t.Errorf("%q", r.Bytes())
	}
	if _, err := fs.Open("missing", 10); !errors.Is(err, region.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if fs.Remove("file") == nil || fs.WriteFile("other", nil) == nil {
		t.Error("something was written")
	}
}
