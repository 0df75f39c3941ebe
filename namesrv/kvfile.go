package namesrv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/wheelmq/wheelmq/durable"
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
	if err := durable.Replace(c.path, text); err != nil {
		return fmt.Errorf("write KV configuration: %w", err)
	}
	return nil
}
