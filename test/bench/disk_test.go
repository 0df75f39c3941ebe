package bench

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
)

// diskUse is the space that a server's store takes, bytes: what is allocated, not how long the
// files look.
func diskUse(t *testing.T, target *peer.Target) (total int64) {
	t.Helper()
	err := filepath.WalkDir(target.StoreDir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			total += st.Blocks * 512
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}
