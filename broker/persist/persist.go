// Package persist keeps a service's table in one JSON file, as the real broker does: the
// file is replaced atomically and the one before it stays as .bak.
//
// A Dir is where the tables of a broker are: a directory, or a tree in memory.
package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"

	"github.com/wheelmq/wheelmq/durable"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// Save writes v durably: to a file beside, synced, then renamed over path; what path held
// is kept as path + ".bak". Both names hold a whole file at every moment.
func Save(path string, v any) error {
	b, err := fastjson.Marshal(v)
	if err != nil {
		return fmt.Errorf("persist: %s: %w", path, err)
	}
	if err := durable.Stage(path, b); err != nil {
		return fmt.Errorf("persist: %w", err)
	}
	if err := keep(path); err != nil {
		return fmt.Errorf("persist: %w", durable.Unstage(path, err))
	}
	if err := durable.Commit(path); err != nil {
		return fmt.Errorf("persist: %w", err)
	}
	return nil
}

// keep gives what path holds the name of its backup too.
func keep(path string) error {
	next := path + ".bak.tmp"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Link(path, next); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return os.Rename(next, path+".bak")
}

// Load reads path into v, or its .bak when path is missing or unreadable. The error wraps
// fs.ErrNotExist when neither exists; the real broker's unquoted integer keys are read. An
// unreadable file is put aside as path + ".damaged", so that no Save makes it the backup.
func Load(path string, v any) error {
	_, err := load(path, v)
	return err
}

// load is Load; instead is why the backup was read, or nil.
func load(path string, v any) (instead, err error) {
	return loadOr(v, os.ReadFile, path, func() error { return os.Rename(path, path+".damaged") })
}

// loadOr reads path, or its backup when it cannot be read, and then returns why; a damaged one is put
// aside.
func loadOr(v any, read func(string) ([]byte, error), path string, aside func() error) (instead, err error) {
	if err = loadFile(v, read, path); err == nil {
		return nil, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		if failed := aside(); failed != nil {
			err = fmt.Errorf("%w; it cannot be put aside: %w", err, failed)
		}
	}
	if bak := loadFile(v, read, path+".bak"); bak == nil {
		return err, nil
	}
	return nil, err
}

// loadFile leaves v alone unless all of the file can be read into it.
func loadFile(v any, read func(string) ([]byte, error), path string) error {
	b, err := read(path)
	if err != nil {
		return fmt.Errorf("persist: %w", err)
	}
	whole := reflect.New(reflect.TypeOf(v).Elem())
	if err := fastjson.Unmarshal(b, whole.Interface()); err != nil {
		return fmt.Errorf("persist: %s: %w", path, err)
	}
	reflect.ValueOf(v).Elem().Set(whole.Elem())
	return nil
}
