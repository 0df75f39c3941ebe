package namesrv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// kvFile is the content of kvConfig.json.
type kvFile struct {
	ConfigTable map[string]map[string]string `json:"configTable"`
}

func (c *kvConfig) open(path string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.path = path
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read KV configuration: %w", err)
	}
	var file kvFile
	if err := fastjson.Unmarshal(text, &file); err != nil {
		return fmt.Errorf("read KV configuration %s: %w", path, err)
	}
	if file.ConfigTable != nil {
		c.table = file.ConfigTable
	}
	return nil
}

// save writes the file; the caller holds mu.
func (c *kvConfig) save() error {
	if c.path == "" {
		return nil
	}
	text, err := fastjson.Marshal(kvFile{ConfigTable: c.table})
	if err != nil {
		return fmt.Errorf("encode KV configuration: %w", err)
	}
	if err := replaceFile(c.path, text); err != nil {
		return fmt.Errorf("write KV configuration: %w", err)
	}
	return nil
}

// replaceFile leaves the old or the new content after a crash.
func replaceFile(path string, content []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
