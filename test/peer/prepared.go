package peer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Prepared returns a directory below the user's cache directory that commands have filled, such as
// installed packages: once for each content of the given files, which are copied there first. The
// commands run in it.
func Prepared(ctx context.Context, kind string, files []string, commands ...[]string) (string, error) {
	h := sha256.New()
	contents := make(map[string][]byte, len(files))
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("peer: prepare %s: %w", kind, err)
		}
		contents[filepath.Base(file)] = body
		fmt.Fprintf(h, "%s %d\n", filepath.Base(file), len(body))
		h.Write(body)
	}
	dir, err := cacheDir(kind, hex.EncodeToString(h.Sum(nil))[:16])
	if err != nil {
		return "", err
	}
	unlock, err := lockDir(dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	ready := filepath.Join(dir, "ready")
	if _, err := os.Stat(ready); err == nil {
		return dir, nil
	}
	for name, body := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o600); err != nil {
			return "", fmt.Errorf("peer: prepare %s: %w", kind, err)
		}
	}
	for _, args := range commands {
		if err := runIn(ctx, dir, args); err != nil {
			return "", fmt.Errorf("peer: prepare %s: %w", kind, err)
		}
	}
	return dir, os.WriteFile(ready, nil, 0o600)
}

func runIn(ctx context.Context, dir string, args []string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%v: %w\n%s", args, err, log.String())
	}
	return nil
}
