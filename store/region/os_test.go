package region_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
)

// TestOS_SparseFile_IsReservedWhenOpened has a file as the real broker makes it: full size,
// no blocks. What it holds must stay.
func TestOS_SparseFile_IsReservedWhenOpened(t *testing.T) {
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
	if got := string(r.Bytes()[:4]); got != "kept" {
		t.Errorf("it holds %q", got)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Skip("no block counts here")
	}
	if st.Blocks*512 < size {
		t.Errorf("%d bytes have blocks, want %d", st.Blocks*512, size)
	}
}

// TestOS_NoSpace_IsAnErrorOfOpen asks for more than any disk has, and nothing stays behind.
func TestOS_NoSpace_IsAnErrorOfOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if r, err := (region.OS{Root: dir}).Open("huge", 1<<50); err == nil {
		_ = r.Close()
		t.Fatal("a petabyte was reserved")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
