// Package durable replaces small files so that after a crash or a power cut the old or the new
// content is there, whole.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace gives the file at path its new content: Stage, then Commit. The directory is made
// when it lacks.
func Replace(path string, content []byte) error {
	if err := Stage(path, content); err != nil {
		return err
	}
	return Commit(path)
}

// Stage writes the new content beside path and syncs it; path itself is not touched. When that
// fails, as on a full disk, nothing is left beside it.
func Stage(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	f, err := os.Create(staged(path))
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	if err := writeSynced(f, content); err != nil {
		return fmt.Errorf("durable: %w", Unstage(path, err))
	}
	return nil
}

// Commit puts what was staged in path's place and syncs the directory.
func Commit(path string) error {
	if err := os.Rename(staged(path), path); err != nil {
		return fmt.Errorf("durable: %w", Unstage(path, err))
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes the names in a directory durable.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("durable: sync directory: %w", err)
	}
	return nil
}

// Unstage removes what was staged and not committed, because of err; it returns err.
func Unstage(path string, err error) error {
	if failed := os.Remove(staged(path)); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
		return errors.Join(err, failed)
	}
	return err
}

func staged(path string) string { return path + ".tmp" }

// writeSynced writes the content of a file durably and closes it.
func writeSynced(f *os.File, content []byte) error {
	if _, err := f.Write(content); err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(f.Sync(), f.Close())
}
