// Package region gives the store its mapped files behind one seam, with an
// operating-system and an in-memory implementation.
//
// Disk space is reserved before it is mapped, so that a full disk is an error of Open and
// never a SIGBUS in the middle of an append.
package region

import "io/fs"

// Region is a file of fixed size mapped into memory. Bytes may be read and written until
// Close; Sync makes a range of them durable.
type Region interface {
	Bytes() []byte
	// Sync returns when the bytes [from, to) are durable.
	Sync(from, to int) error
	// Prefault makes the pages of [from, to) writable ahead of the first write to them, which
	// is then cheap. Contents do not change; failing is harmless.
	Prefault(from, to int)
	// Close unmaps; the bytes must not be touched afterwards.
	Close() error
}

// FS is a directory tree that holds regions and small files. Names are slash-separated
// paths below its root.
type FS interface {
	// Open maps the file, creating it with size zero bytes reserved when it does not exist.
	// size 0 takes an existing file's own size.
	Open(name string, size int) (Region, error)
	// List returns the names in a directory, sorted; a missing directory is empty.
	List(dir string) ([]Entry, error)
	// Remove deletes a file or a whole directory; a missing one is no error.
	Remove(name string) error
	// ReadFile reads a small file; the error wraps fs.ErrNotExist when it is missing.
	ReadFile(name string) ([]byte, error)
	// SyncDir makes the names in a directory durable.
	SyncDir(dir string) error
	// WriteFile replaces a small file durably: written beside, synced, renamed.
	WriteFile(name string, data []byte) error
}

// Entry is one name of a directory.
type Entry struct {
	Name string
	Dir  bool
	Size int64 // bytes, of files
}

// ErrNotExist is fs.ErrNotExist.
var ErrNotExist = fs.ErrNotExist
