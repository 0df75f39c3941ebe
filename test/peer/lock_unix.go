//go:build unix

package peer

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockDir holds an exclusive lock on dir until unlock is called: the packages
// of one test run are separate processes that would otherwise build the same
// thing at the same time.
func lockDir(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("peer: lock %s: %w", dir, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("peer: lock %s: %w", dir, err)
	}
	return func() { f.Close() }, nil
}
