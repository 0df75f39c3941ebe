// Package region gives the store its mapped files behind one seam, with an
// operating-system and an in-memory implementation.
//
// Whoever writes reserves the space first, so that a full disk is an error of Reserve and
// never a SIGBUS in the middle of an append. Reading needs no space: the real broker's files
// are sparse and stay so.
package region

import (
	"errors"
	"io/fs"
)

// Region is a file of fixed size mapped into memory. Bytes may be read and written until
// Close; Sync makes a range of them durable.
type Region interface {
	Bytes() []byte
	// Reserve puts disk space behind the bytes [from, to), which keep their contents. Bytes
	// without it must not be written. The error wraps ErrNoSpace when the disk is full.
	Reserve(from, to int) error
	// Sync returns when the bytes [from, to) are durable.
	Sync(from, to int) error
	// Prefault makes the pages of [from, to) writable ahead of the first write to them, which
	// is then cheap. Contents do not change; failing is harmless.
	Prefault(from, to int)
	// Blank is Prefault for bytes [from, to) that have space and hold nothing that anybody needs:
	// they are zeros afterwards, or what they were. Pages that need not be read cost a third.
	Blank(from, to int)
	// Fetch asks for the bytes [from, to) to be read from the disk and does not wait until they
	// are. Unlike an access to them it reads nothing around.
	Fetch(from, to int)
	// Written returns the first stretch from a place on that may have been written to: what lies
	// outside of these is zeros, which need not be read to know. from == to: there is none.
	Written(after int) (from, to int)
	// Zero makes the bytes [from, to) zeros without reading them, where the file system can; they
	// keep their space. done is false when nothing has changed: the caller writes the zeros then.
	Zero(from, to int) (done bool)
	// Close unmaps; the bytes must not be touched afterwards.
	Close() error
}

// FS is a directory tree that holds regions and small files. Names are slash-separated
// paths below its root.
type FS interface {
	// Open maps the file; a missing one is made of size zero bytes without space behind them.
	// size 0 takes an existing file's own size.
	Open(name string, size int) (Region, error)
	// List returns the names in a directory, sorted; a missing directory is empty.
	List(dir string) ([]Entry, error)
	// Remove deletes a file or a whole directory; a missing one is no error.
	Remove(name string) error
	// ReadFile reads a small file; the error wraps fs.ErrNotExist when it is missing.
	ReadFile(name string) ([]byte, error)
	// SyncDir makes the names in a directory durable, and those of the way to it; a missing
	// directory has none.
	SyncDir(dir string) error
	// WriteFile replaces a small file durably: written beside, synced, renamed.
	WriteFile(name string, data []byte) error
	// SyncAll makes everything durable that was written through this tree, contents and names.
	// For many files it is far cheaper than to sync each.
	SyncAll() error
	// Space tells how full the file system is that holds the tree.
	Space() (Space, error)
}

// Space is how full a file system is, bytes. Free is what this process may still use.
type Space struct {
	Used, Free int64
}

// Ratio is the used part, 0 to 1, as df counts it: of what this process could use.
func (s Space) Ratio() float64 {
	if s.Used+s.Free <= 0 {
		return 0
	}
	return float64(s.Used) / float64(s.Used+s.Free)
}

// Entry is one name of a directory.
type Entry struct {
	Name string
	Dir  bool
	Size int64 // bytes, of files
}

// ErrNotExist is fs.ErrNotExist.
var ErrNotExist = fs.ErrNotExist

// ErrNoSpace is wrapped when the disk is full.
var ErrNoSpace = errors.New("no space left on the device")
