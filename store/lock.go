package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// ErrLocked is wrapped when another process, ours or a Java broker, uses the directory.
var ErrLocked = errors.New("the store is in use")

// dirLock is the advisory lock on the file "lock": a POSIX record lock on its first byte,
// which a Java broker sees, and an entry in held, since a process does not see its own.
type dirLock struct {
	f    *os.File
	path string
}

var held = struct {
	sync.Mutex
	paths map[string]bool
}{paths: make(map[string]bool)}

// lockPath is the one name of a directory's lock file, whatever links lead to it.
func lockPath(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, "lock"), nil
}

func lockDir(dir string) (*dirLock, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	path, err := lockPath(dir)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	held.Lock()
	defer held.Unlock()
	f, err := openLocked(dir, path, os.O_RDWR|os.O_CREATE, unix.F_WRLCK)
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteAt([]byte("lock"), 0); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), f.Close())
	}
	held.paths[path] = true
	return &dirLock{f: f, path: path}, nil
}

// openLocked opens a directory's lock file and takes a record lock of that kind. The caller has locked held.
func openLocked(dir, path string, flag int, kind int16) (*os.File, error) {
	if held.paths[path] {
		return nil, fmt.Errorf("store: %s: %w by this process", dir, ErrLocked)
	}
	f, err := os.OpenFile(path, flag, 0o644)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	flock := unix.Flock_t{Type: kind, Start: 0, Len: 1}
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &flock); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %s: %w by another process (lock file %s)", dir, ErrLocked, path), f.Close())
	}
	return f, nil
}

// LockShared keeps servers out of a directory that is only read; the returned function lets
// go. The error wraps ErrLocked while a server has it. A directory without a lock file was
// never open and stays as it is.
func LockShared(dir string) (unlock func(), err error) {
	path, err := lockPath(dir)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	held.Lock()
	defer held.Unlock()
	f, err := openLocked(dir, path, os.O_RDONLY, unix.F_RDLCK)
	if errors.Is(err, os.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	held.paths[path] = true
	return (&dirLock{f: f, path: path}).unlock, nil
}

// unlock lets go; closing the descriptor drops the record lock.
func (l *dirLock) unlock() {
	held.Lock()
	defer held.Unlock()
	delete(held.paths, l.path)
	// The lock file has no content to lose.
	_ = l.f.Close()
}
