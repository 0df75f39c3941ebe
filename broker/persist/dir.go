package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

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
	// Remove removes a table and its backup; it may be missing.
	Remove(name string) error
}

// At is a directory of the machine, which is made when the first table is saved; "" is nil.
func At(dir string) Dir {
	if dir == "" {
		return nil
	}
	return directory(dir)
}

type directory string

func (d directory) Save(name string, v any) error { return Save(filepath.Join(string(d), name), v) }
func (d directory) Load(name string, v any) error { return Load(filepath.Join(string(d), name), v) }
func (d directory) Remove(name string) error {
	for _, file := range []string{name, name + ".bak"} {
		if err := os.Remove(filepath.Join(string(d), file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("persist: %w", err)
		}
	}
	return nil
}

// In is a directory of a tree, such as one in memory.
func In(tree region.FS, dir string) Dir { return inTree{tree, dir} }

type inTree struct {
	tree region.FS
	dir  string
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
	return loadOr(v, t.tree.ReadFile, file, func() error {
		b, err := t.tree.ReadFile(file)
		if err != nil {
			return err
		}
		if err := t.tree.WriteFile(file+".damaged", b); err != nil {
			return err
		}
		return t.tree.Remove(file)
	})
}

func (t inTree) Remove(name string) error {
	for _, file := range []string{name, name + ".bak"} {
		if err := t.tree.Remove(path.Join(t.dir, file)); err != nil {
			return fmt.Errorf("persist: %w", err)
		}
	}
	return nil
}
