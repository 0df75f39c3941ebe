package namesrv

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/remoting/fastjson"
	"github.com/wheelmq/wheelmq/store/region"
)

// kvFile is the content of kvConfig.json.
type kvFile struct {
	ConfigTable map[string]map[string]string `json:"configTable"`
}

// open reads the file. A damaged one is put aside as .damaged and does not keep the name server
// from starting: the configuration is empty then.
func (c *kvConfig) open(tree region.FS, name string, log logrus.FieldLogger) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tree, c.file = tree, name
	text, err := tree.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read KV configuration: %w", err)
	}
	var file kvFile
	if err := fastjson.Unmarshal(text, &file); err != nil {
		log.WithError(err).WithField("file", name).Error("the KV configuration cannot be read: it is put aside, and the name server starts without")
		if err := errors.Join(tree.WriteFile(name+".damaged", text), tree.Remove(name)); err != nil {
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
	if c.tree == nil {
		return nil
	}
	text, err := fastjson.Marshal(kvFile{ConfigTable: c.table})
	if err != nil {
		return fmt.Errorf("encode KV configuration: %w", err)
	}
	if err := c.tree.WriteFile(c.file, text); err != nil {
		return fmt.Errorf("write KV configuration: %w", err)
	}
	return nil
}
