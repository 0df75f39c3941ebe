package broker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// copyStep is how much is copied at a time, bytes. What is zero stays a hole.
const copyStep = 1 << 20

var zeros [copyStep]byte

// copyStore copies a directory of plain files into an empty or missing one, without the marks of a
// server that has it open.
func copyStore(ctx context.Context, from, to string, done func(bytes, of int64)) error {
	if err := emptyDir(to); err != nil {
		return err
	}
	c := copier{ctx: ctx, buf: make([]byte, copyStep), done: done}
	if err := eachFile(from, func(_, _ string, info fs.FileInfo) error {
		c.total += info.Size()
		return nil
	}); err != nil {
		return err
	}
	return eachFile(from, func(path, name string, info fs.FileInfo) error {
		return c.copy(path, filepath.Join(to, name), info.Size())
	})
}

// emptyDir makes a directory, or refuses one that holds something.
func emptyDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("broker: %s: %w", dir, errNotEmpty)
	}
	return nil
}

var errNotEmpty = errors.New("it holds files already; name a new directory")

// eachFile visits what belongs to a copy of the store in a directory.
func eachFile(dir string, visit func(path, name string, info fs.FileInfo) error) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || d.IsDir() {
			if name == "reserve" {
				return filepath.SkipDir
			}
			return err
		}
		if name == "lock" || name == "abort" {
			return nil
		}
		info, err := os.Stat(path) // of what a link leads to
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		return visit(path, name, info)
	})
	if err != nil {
		return fmt.Errorf("broker: copy %s: %w", dir, err)
	}
	return nil
}

type copier struct {
	ctx         context.Context
	buf         []byte
	read, total int64
	done        func(bytes, of int64)
}

// copy copies a file.
func (c *copier) copy(from, to string, size int64) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for at := int64(0); ; {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(in, c.buf)
		if n > 0 && !bytes.Equal(c.buf[:n], zeros[:n]) {
			if _, err := out.WriteAt(c.buf[:n], at); err != nil {
				return err
			}
		}
		at += int64(n)
		if c.read += int64(n); c.done != nil {
			c.done(c.read, c.total)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	return out.Truncate(size)
}
