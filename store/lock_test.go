package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/wheelmq/wheelmq/store"
)

// TestLockShared keeps readers and servers apart, and makes no lock file.
func TestLockShared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := store.LockShared(dir)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, err := os.Stat(filepath.Join(dir, "lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a lock file in a directory that was never open: %v", err)
	}
	s := mustOpen(t, options(dir))
	if _, err := store.LockShared(dir); !errors.Is(err, store.ErrLocked) {
		t.Errorf("beside a server: %v", err)
	}
	mustClose(t, s)
	if unlock, err = store.LockShared(dir); err != nil {
		t.Fatal(err)
	}
	if s, err := store.Open(options(dir)); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a server beside a reader: %v", err)
		if err == nil {
			mustClose(t, s)
		}
	}
	unlock()
	mustClose(t, mustOpen(t, options(dir)))
}
