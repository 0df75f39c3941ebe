//go:build unix

package region

import "golang.org/x/sys/unix"

// mapPages returns zeroed memory outside of the Go heap, or nil where there is none to be had.
// A page takes nothing until it is written to.
func mapPages(size int) []byte {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return b
}

func unmapPages(b []byte) {
	// Memory that cannot be given back is only lost.
	_ = unix.Munmap(b)
}
