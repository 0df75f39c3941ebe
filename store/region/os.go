package region

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/wheelmq/wheelmq/durable"
)

// OS is an FS below a directory of the machine.
type OS struct{ Root string }

func (o OS) path(name string) string { return filepath.Join(o.Root, filepath.FromSlash(name)) }

// Open implements FS.
func (o OS) Open(name string, size int) (Region, error) {
	path := o.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("region: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("region: %w", err)
	}
	// The mapping keeps the file alive; the descriptor is not needed.
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("region: %w", err)
	}
	if size == 0 {
		size = int(info.Size())
	}
	if size <= 0 {
		return nil, fmt.Errorf("region: %s: size %d cannot be mapped", path, size)
	}
	if allocated(info) < int64(size) {
		if err := reserve(f, info.Size(), int64(size)); err != nil {
			return nil, errors.Join(fmt.Errorf("region: reserve %d bytes for %s: %w", size, path, err), removeIfNew(path, info))
		}
	}
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("region: map %s: %w", path, err)
	}
	return &osRegion{b: b, path: path}, nil
}

func removeIfNew(path string, info fs.FileInfo) error {
	if info.Size() > 0 {
		return nil
	}
	return os.Remove(path)
}

// allocated is how many bytes have blocks behind them: the real broker's files are sparse,
// and writing to a hole on a full disk would kill the process.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return min(info.Size(), st.Blocks*512)
	}
	return info.Size()
}

// reserve gives the file its size with blocks behind it, keeping what is there. Where the
// file system cannot reserve, zeros are written behind the old size.
func reserve(f *os.File, old, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err == nil && uint64(size-old) > st.Bavail*uint64(st.Bsize) {
		return unix.ENOSPC
	}
	zeros := make([]byte, 1<<20)
	for at := old; at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			return err
		}
	}
	return nil
}

// List implements FS.
func (o OS) List(dir string) ([]Entry, error) {
	found, err := os.ReadDir(o.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("region: %w", err)
	}
	entries := make([]Entry, 0, len(found))
	for _, e := range found {
		info, err := e.Info()
		if err != nil {
			return nil, fmt.Errorf("region: %w", err)
		}
		entries = append(entries, Entry{Name: e.Name(), Dir: e.IsDir(), Size: info.Size()})
	}
	return entries, nil
}

// Remove implements FS.
func (o OS) Remove(name string) error {
	if err := os.RemoveAll(o.path(name)); err != nil {
		return fmt.Errorf("region: %w", err)
	}
	return nil
}

// ReadFile implements FS.
func (o OS) ReadFile(name string) ([]byte, error) {
	b, err := os.ReadFile(o.path(name))
	if err != nil {
		return nil, fmt.Errorf("region: %w", err)
	}
	return b, nil
}

// SyncDir implements FS.
func (o OS) SyncDir(dir string) error {
	if err := durable.SyncDir(o.path(dir)); err != nil {
		return fmt.Errorf("region: %w", err)
	}
	return nil
}

// WriteFile implements FS.
func (o OS) WriteFile(name string, data []byte) error {
	if err := durable.Replace(o.path(name), data); err != nil {
		return fmt.Errorf("region: %w", err)
	}
	return nil
}

type osRegion struct {
	b    []byte
	path string
}

func (r *osRegion) Bytes() []byte { return r.b }

func (r *osRegion) Sync(from, to int) error {
	from -= from % os.Getpagesize()
	if to <= from {
		return nil
	}
	if err := unix.Msync(r.b[from:to], unix.MS_SYNC); err != nil {
		return fmt.Errorf("region: sync %s: %w", r.path, err)
	}
	return nil
}

func (r *osRegion) Prefault(from, to int) {
	from -= from % os.Getpagesize()
	to = min(to, len(r.b))
	if to > from {
		// Kernels before 5.14 do not know it; the pages fault one by one then.
		_ = unix.Madvise(r.b[from:to], unix.MADV_POPULATE_WRITE)
	}
}

func (r *osRegion) Close() error {
	b := r.b
	r.b = nil
	if err := unix.Munmap(b); err != nil {
		return fmt.Errorf("region: unmap %s: %w", r.path, err)
	}
	return nil
}
