package region

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapRead maps a file that nobody makes longer or fills meanwhile, to be read, or with MAP_PRIVATE to
// be changed by nobody else. On a memory disk (tmpfs) even reading a hole of a file takes space, and on a
// full one is a bus error: holes are not mapped there, but zeros instead of them.
func mapRead(f *os.File, size, prot, flags int) ([]byte, error) {
	var disk unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &disk) == nil && disk.Type == unix.TMPFS_MAGIC {
		return mapData(f, size, prot, flags)
	}
	return unix.Mmap(int(f.Fd()), 0, size, prot, flags)
}

// maxStretches bounds how many mappings one file takes; Linux allows a process some 65,000.
const maxStretches = 256

// mapData maps what a file holds over memory that is zeros.
func mapData(f *os.File, size, prot, flags int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, size, prot, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	for at, n := 0, 0; at < size; n++ {
		from, to, err := dataFrom(f, at, size)
		if err == nil && n == maxStretches {
			to = size
		}
		if err == nil && from < to {
			_, err = unix.MmapPtr(int(f.Fd()), int64(from), unsafe.Pointer(&b[from]), uintptr(to-from), prot, flags|unix.MAP_FIXED)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("map bytes %d to %d: %w", from, to, err), unix.Munmap(b))
		}
		at = to
	}
	return b, nil
}

// dataFrom is the first stretch of whole pages from a place on that a file holds something in; from is
// the end when there is none.
func dataFrom(f *os.File, after, end int) (from, to int, err error) {
	at, err := unix.Seek(int(f.Fd()), int64(after), unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) || err == nil && at >= int64(end) {
		return end, end, nil
	}
	if err != nil {
		return after, end, err
	}
	hole, err := unix.Seek(int(f.Fd()), at, unix.SEEK_HOLE)
	if err != nil {
		return after, end, err
	}
	page := int64(os.Getpagesize())
	from, to = int(at-at%page), int(hole+(page-hole%page)%page)
	return from, min(to, end), nil
}
