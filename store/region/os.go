package region

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/wheelmq/wheelmq/durable"
)

// OS is an FS below a directory of the machine.
type OS struct {
	Root string
	// ReadOnly changes nothing on disk: what would write is refused.
	ReadOnly bool
}

var errReadOnly = errors.New("region: opened to be read only")

func (o OS) path(name string) string { return filepath.Join(o.Root, filepath.FromSlash(name)) }

// Open implements FS.
func (o OS) Open(name string, size int) (Region, error) {
	path := o.path(name)
	f, err := o.open(path)
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
	if info.Size() < int64(size) {
		if err := f.Truncate(int64(size)); err != nil {
			return nil, fmt.Errorf("region: %w", full(err))
		}
	}
	b, err := o.mapShared(f, size)
	if err != nil {
		return nil, fmt.Errorf("region: map %s: %w", path, err)
	}
	return &osRegion{b: b, path: path}, nil
}

func (o OS) mapShared(f *os.File, size int) ([]byte, error) {
	if o.ReadOnly {
		return mapRead(f, size, unix.PROT_READ, unix.MAP_SHARED)
	}
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func (o OS) open(path string) (*os.File, error) {
	if o.ReadOnly {
		return os.Open(path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
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
	if o.ReadOnly {
		return errReadOnly
	}
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
	if o.ReadOnly {
		return errReadOnly
	}
	for dir = path.Clean(dir); ; dir = path.Dir(dir) {
		if err := durable.SyncDir(o.path(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("region: %w", err)
		}
		if dir == "." {
			return nil
		}
	}
}

// WriteFile implements FS.
func (o OS) WriteFile(name string, data []byte) error {
	if o.ReadOnly {
		return errReadOnly
	}
	if err := durable.Replace(o.path(name), data); err != nil {
		return fmt.Errorf("region: %w", full(err))
	}
	if dir := path.Dir(name); dir != "." {
		return o.SyncDir(path.Dir(dir))
	}
	return nil
}

// SyncAll implements FS by one syncfs of the whole file system.
func (o OS) SyncAll() error {
	d, err := os.Open(o.Root)
	if err != nil {
		return fmt.Errorf("region: %w", err)
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return fmt.Errorf("region: sync the file system of %s: %w", o.Root, err)
	}
	return nil
}

// Space implements FS.
func (o OS) Space() (Space, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(o.Root, &st); err != nil {
		return Space{}, fmt.Errorf("region: %s: %w", o.Root, err)
	}
	block := int64(st.Bsize)
	return Space{Used: int64(st.Blocks-st.Bfree) * block, Free: int64(st.Bavail) * block}, nil
}

// full makes the errors of a full disk ErrNoSpace: no space, over a quota, over the process's
// file-size limit.
func full(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}

type osRegion struct {
	b    []byte
	path string
}

func (r *osRegion) Bytes() []byte { return r.b }

// Reserve opens the file anew: a descriptor for each of thousands of mapped files would cost
// more than an open now and then.
func (r *osRegion) Reserve(from, to int) error {
	if to <= from {
		return nil
	}
	f, err := os.OpenFile(r.path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("region: %w", err)
	}
	defer f.Close()
	if err := room(f, int64(to-from)); err != nil {
		return fmt.Errorf("region: reserve %d bytes for %s: %w", to-from, r.path, err)
	}
	err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, int64(from), int64(to-from))
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		err = rewrite(f, int64(from), int64(to))
	}
	if err != nil {
		return fmt.Errorf("region: reserve %d bytes for %s: %w", to-from, r.path, full(err))
	}
	return nil
}

// room refuses at once what cannot fit: a file system that tries takes all it has from
// everybody else before it fails. Small pieces are tried.
func room(f *os.File, size int64) error {
	const small = 1 << 20
	if size <= small {
		return nil
	}
	var file unix.Stat_t
	var disk unix.Statfs_t
	if unix.Fstat(int(f.Fd()), &file) != nil || unix.Fstatfs(int(f.Fd()), &disk) != nil {
		return nil
	}
	// Blocks that the file has already need none.
	if size-file.Blocks*512 > int64(disk.Bavail)*int64(disk.Bsize) {
		return ErrNoSpace
	}
	return nil
}

// rewrite writes back what a range holds: where the file system cannot reserve, written
// blocks are the only ones that are sure to be there.
func rewrite(f *os.File, from, to int64) error {
	b := make([]byte, min(1<<20, to-from))
	for ; from < to; from += int64(len(b)) {
		b = b[:min(int64(len(b)), to-from)]
		if _, err := f.ReadAt(b, from); err != nil {
			return err
		}
		if _, err := f.WriteAt(b, from); err != nil {
			return err
		}
	}
	return nil
}

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

// blankStep is how much Blank writes at a time, bytes: the kernel makes pages of up to this size,
// which it writes back as one when a byte of them has changed.
const blankStep = 64 << 10

var blanks [blankStep]byte

// Blank implements Region. A page fault reads the page, zeros too, and makes pages one by one; a
// write makes many, and they are there when they fault. Failing is harmless, as with Prefault.
func (r *osRegion) Blank(from, to int) {
	if to = min(to, len(r.b)); to <= from {
		return
	}
	if fd, err := unix.Open(r.path, unix.O_WRONLY|unix.O_CLOEXEC, 0); err == nil {
		for at := from; at < to && err == nil; at += blankStep {
			_, err = unix.Pwrite(fd, blanks[:min(blankStep, to-at)], int64(at))
		}
		_ = unix.Close(fd) // nothing is lost: the space was there before
	}
	r.Prefault(from, to)
}

// Fetch implements Region. Failing is harmless: the pages are read when they are accessed.
func (r *osRegion) Fetch(from, to int) {
	from -= from % os.Getpagesize()
	if to = min(to, len(r.b)); to > from {
		_ = unix.Madvise(r.b[from:to], unix.MADV_WILLNEED)
	}
}

// Written implements Region: what was reserved and not written counts as a hole to Linux.
func (r *osRegion) Written(after int) (from, to int) {
	f, err := os.Open(r.path)
	if err != nil {
		return after, len(r.b)
	}
	defer f.Close()
	at, err := unix.Seek(int(f.Fd()), int64(after), unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) || err == nil && at >= int64(len(r.b)) {
		return len(r.b), len(r.b)
	}
	if err != nil {
		return after, len(r.b)
	}
	end, err := unix.Seek(int(f.Fd()), at, unix.SEEK_HOLE)
	if err != nil || end > int64(len(r.b)) {
		end = int64(len(r.b))
	}
	return int(at), int(end)
}

// Zero implements Region: the blocks become reserved and unwritten ones, in the file's metadata only.
func (r *osRegion) Zero(from, to int) (done bool) {
	f, err := os.OpenFile(r.path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	mode := uint32(unix.FALLOC_FL_ZERO_RANGE | unix.FALLOC_FL_KEEP_SIZE)
	return unix.Fallocate(int(f.Fd()), mode, int64(from), int64(to-from)) == nil
}

func (r *osRegion) Close() error {
	b := r.b
	r.b = nil
	if err := unix.Munmap(b); err != nil {
		return fmt.Errorf("region: unmap %s: %w", r.path, err)
	}
	return nil
}
