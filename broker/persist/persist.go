// Package persist keeps a service's table in one JSON file, as the real broker does: the
// file is replaced atomically and the one before it stays as .bak.
package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/wheelmq/wheelmq/durable"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// Save writes v durably: to a file beside, synced, then renamed over path; what path held
// is kept as path + ".bak".
func Save(path string, v any) error {
	b, err := fastjson.Marshal(v)
	if err != nil {
		return fmt.Errorf("persist: %s: %w", path, err)
	}
	if err := durable.Stage(path, b); err != nil {
		return fmt.Errorf("persist: %w", err)
	}
	if err := os.Remove(path + ".bak"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("persist: %w", err)
	}
	// A link, not a rename: path exists at every moment.
	if err := os.Link(path, path+".bak"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("persist: %w", err)
	}
	if err := durable.Commit(path); err != nil {
		return fmt.Errorf("persist: %w", err)
	}
	return nil
}

// Load reads path into v, or its .bak when path is missing or unreadable. The error wraps
// fs.ErrNotExist when neither exists; the real broker's unquoted integer keys are read.
func Load(path string, v any) error {
	err := load(path, v)
	if err == nil {
		return nil
	}
	if bak := load(path+".bak", v); bak == nil {
		return nil
	}
	return err
}

func load(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("persist: %w", err)
	}
	if err := fastjson.Unmarshal(b, v); err != nil {
		return fmt.Errorf("persist: %s: %w", path, err)
	}
	return nil
}
