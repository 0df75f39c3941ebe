package wheelmq

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/wheelmq/wheelmq/config"
)

// checkStorePaths refuses what cannot be a store's directory, before a part of the instance
// trips over it.
func checkStorePaths(c *config.Config) error {
	if info, err := os.Stat(c.StorePathRootDir); err == nil && !info.IsDir() {
		return fmt.Errorf("config: storePathRootDir=%q is a file, want a directory", c.StorePathRootDir)
	}
	if c.StorePathCommitLog == "" {
		return nil
	}
	log, err := filepath.Abs(c.StorePathCommitLog)
	if err != nil {
		return fmt.Errorf("config: storePathCommitLog=%q: %w", c.StorePathCommitLog, err)
	}
	within, err := filepath.Abs(filepath.Join(c.StorePathRootDir, "commitlog"))
	if err != nil {
		return fmt.Errorf("config: storePathRootDir=%q: %w", c.StorePathRootDir, err)
	}
	if log != within {
		return fmt.Errorf("config: storePathCommitLog=%q: want %s: a log outside of storePathRootDir is not supported; move its files there, or mount them there",
			c.StorePathCommitLog, within)
	}
	return nil
}
