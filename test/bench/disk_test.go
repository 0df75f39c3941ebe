package bench

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wheelmq/wheelmq/test/peer"
)

// diskParts is the space that the directories of a server's store take, bytes, and all together
// under "": what is allocated, not how long the files look.
func diskParts(t *testing.T, target *peer.Target) map[string]int64 {
	t.Helper()
	parts := make(map[string]int64)
	walk(t, target.StoreDir, func(path string, info fs.FileInfo) {
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return
		}
		rel, err := filepath.Rel(target.StoreDir, path)
		if err != nil {
			t.Error(err)
			return
		}
		part, _, _ := strings.Cut(rel, "/")
		parts[part] += st.Blocks * 512
		parts[""] += st.Blocks * 512
	})
	return parts
}

// walk visits the files of a directory that a server may be changing.
func walk(t *testing.T, dir string, visit func(path string, info fs.FileInfo)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			visit(path, info)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// freeSpace is what of the file system of a directory may still be used, bytes.
func freeSpace(t *testing.T, dir string) int64 {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Bavail) * st.Bsize
}

// evict drops the files of a directory from the page cache: what is not mapped and is on disk.
func evict(t *testing.T, dir string) {
	t.Helper()
	walk(t, dir, func(path string, _ fs.FileInfo) {
		f, err := os.Open(path)
		if err != nil {
			return // it went meanwhile
		}
		defer f.Close()
		if err = f.Sync(); err == nil {
			err = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// resident is how much of the files of a directory is in memory, and how long they are, bytes.
func resident(t *testing.T, dir string) (cached, size int64) {
	t.Helper()
	page := int64(os.Getpagesize())
	walk(t, dir, func(path string, info fs.FileInfo) {
		if info.Size() == 0 {
			return
		}
		f, err := os.Open(path)
		if err != nil {
			return // it went meanwhile
		}
		defer f.Close()
		b, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
		if err != nil {
			t.Error(err)
			return
		}
		in := make([]byte, (info.Size()+page-1)/page)
		if _, _, errno := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&in[0]))); errno != 0 {
			t.Error(errno)
		}
		for _, v := range in {
			cached += int64(v&1) * page
		}
		size += info.Size()
		if err := syscall.Munmap(b); err != nil {
			t.Error(err)
		}
	})
	return cached, size
}
