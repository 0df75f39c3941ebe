//go:build unix

package processor

import "golang.org/x/sys/unix"

// diskSpace is the size of the file system under a directory and what of it is free to
// this process, bytes; zeros when it cannot be told.
func diskSpace(dir string) (total, free uint64) {
	var s unix.Statfs_t
	if dir == "" || unix.Statfs(dir, &s) != nil {
		return 0, 0
	}
	return s.Blocks * uint64(s.Bsize), s.Bavail * uint64(s.Bsize)
}
