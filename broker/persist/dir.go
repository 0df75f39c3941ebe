package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/wheelmq/wheelmq/durable"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
	"github.com/wheelmq/wheelmq/store/region"
)

// Dir keeps tables by the names of their files.
type Dir interface {
	// Save writes v durably under a name; what the name held is kept as name + ".bak". Both
	// names hold a whole file at every moment.
	Save(name string, v any) error
	// Load reads what was saved into v, or its .bak when it is missing or unreadable. The error
	// wraps fs.ErrNotExist when neither exists. An unreadable file is put aside as
	// name + ".damaged".
	Load(name string, v any) error
	// Restore makes a table of its .bak when it is missing, so that the next Load finds it though
	// nothing is saved until then.
	Restore(name string) error
	// Remove removes a table and its backup; it may be missing.
	Remove(name string) error
}

// A Notice is given when a table was loaded from its .bak: why its own file could not be. What was
// saved last is lost then.
type Notice func(name string, why error)

// At is a directory of the machine, which is made when the first table is saved; "" is nil.
func At(dir string, notices ...Notice) Dir {
	if dir == "" {
		return nil
	}
	return directory{dir, notices}
}

type directory struct {
	path    string
	notices []Notice
}

func (d directory) Save(name string, v any) error { return Save(filepath.Join(d.path, name), v) }

func (d directory) Load(name string, v any) error {
	instead, err := load(filepath.Join(d.path, name), v)
	give(d.notices, name, instead)
	return err
}

func give(notices []Notice, name string, why error) {
	if why == nil {
		return
	}
	for _, notice := range notices {
		notice(name, why)
	}
}

func (d directory) Restore(name string) error {
	file := filepath.Join(d.path, name)
	return restore(file, os.ReadFile, durable.Replace)
}

func (d directory) Remove(name string) error {
	for _, file := range []string{name, name + ".bak"} {
		if err := os.Remove(filepath.Join(d.path, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("persist: %w", err)
		}
	}
	return nil
}

// In is a directory of a tree, such as one in memory.
func In(tree region.FS, dir string, notices ...Notice) Dir { return inTree{tree, dir, notices} }

type inTree struct {
	tree    region.FS
	dir     string
	notices []Notice
}

// Save writes the backup as a copy: a tree has no second names for one file.
func (t inTree) Save(name string, v any) error {
	b, err := fastjson.Marshal(v)
	if err != nil {
		return fmt.Errorf("persist: %s: %w", name, err)
	}
	file := path.Join(t.dir, name)
	if before, err := t.tree.ReadFile(file); err == nil {
		if err := t.tree.WriteFile(file+".bak", before); err != nil {
			return fmt.Errorf("persist: keep %s: %w", name, err)
		}
	}
	if err := t.tree.WriteFile(file, b); err != nil {
		return fmt.Errorf("persist: %w", err)
	}
	return nil
}

func (t inTree) Load(name string, v any) error {
	file := path.Join(t.dir, name)
	instead, err := loadOr(v, t.tree.ReadFile, file, func() error {
		b, err := t.tree.ReadFile(file)
		if err != nil {
			return err
		}
		if err := t.tree.WriteFile(file+".damaged", b); err != nil {
			return err
		}
		return t.tree.Remove(file)
	})
	give(t.notices, name, instead)
	return err
}

func (t inTree) Restore(name string) error {
	return restore(path.Join(t.dir, name), t.tree.ReadFile, t.tree.WriteFile)
}

func restore(file string, read func(string) ([]byte, error), write func(string, []byte) error) error {
	if _, err := read(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b, err := read(file + ".bak")
	if err == nil {
		err = write(file, b)
	}
	if err != nil {
		return fmt.Errorf("persist: restore %s: %w", file, err)
	}
	return nil
}

func (t inTree) Remove(name string) error {
	for _, file := range []string{name, name + ".bak"} {
		if err := t.tree.Remove(path.Join(t.dir, file)); err != nil {
			return fmt.Errorf("persist: %w", err)
		}
	}
	return nil
}
