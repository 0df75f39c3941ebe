package namesrv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/durable"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// kvFile is the content of kvConfig.json.
type kvFile struct {
	ConfigTable map[string]map[string]string `json:"configTable"`
}

// open reads the file. A damaged one is put aside as .damaged and does not keep the name server
// from starting: the configuration is empty then.
func (c *kvConfig) open(path string, log logrus.FieldLogger) error {
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
		log.WithError(err).WithField("file", path).Error("the KV configuration cannot be read: it is put aside, and the name server starts without")
		if err := os.Rename(path, path+".damaged"); err != nil {
			return fmt.Errorf("put the damaged KV configuration aside: %w", err)
		}
		return nil
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
