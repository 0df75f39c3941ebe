package peer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
)

// binaryEnv names a WheelMQ binary to test instead of one built on the spot.
const binaryEnv = "WHEELMQ_BIN"

// readyMark is part of the line that WheelMQ prints once it serves.
const readyMark = "boot success"

// wheelmq is our binary run as a child process.
type wheelmq struct {
	bin                             string
	dir                             string
	listenPort, namesrvPort, health int
	conf                            map[string]string
	flags                           []string // beside those of every start
	proc                            *process
}

var binaryOnce = sync.OnceValues(buildBinary)

// Binary is the path of the WheelMQ binary under test: WHEELMQ_BIN, or one
// built from the parent module once per test process.
func Binary() (string, error) {
	if bin := os.Getenv(binaryEnv); bin != "" {
		return filepath.Abs(bin)
	}
	return binaryOnce()
}

func buildBinary() (string, error) {
	root := filepath.Dir(filepath.Dir(sourceDir()))
	// Each checkout has its own: the tests of another one may run at the same time.
	key := sha256.Sum256([]byte(root))
	dir, err := cacheDir("bin", hex.EncodeToString(key[:8]))
	if err != nil {
		return "", err
	}
	unlock, err := lockDir(dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	bin := filepath.Join(dir, "wheelmq")
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/wheelmq")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("peer: build wheelmq: %w\n%s", err, out)
	}
	return bin, nil
}

func newWheelMQ(dir string, conf map[string]string) (*wheelmq, error) {
	bin, err := Binary()
	if err != nil {
		return nil, err
	}
	w := &wheelmq{bin: bin, dir: dir, conf: map[string]string{
		"brokerClusterName": "DefaultCluster",
		"brokerName":        "broker-a",
		"storePathRootDir":  filepath.Join(dir, "store"),
	}}
	maps.Copy(w.conf, conf)
	if w.listenPort, err = FreeBrokerPort(); err != nil {
		return nil, err
	}
	if w.namesrvPort, err = FreePort(); err != nil {
		return nil, err
	}
	w.health, err = FreePort()
	return w, err
}

// start runs the process and does not wait.
func (w *wheelmq) start() (err error) {
	args := []string{
		"serve",
		"--listen-port", strconv.Itoa(w.listenPort),
		"--namesrv-port", strconv.Itoa(w.namesrvPort),
		"--http-port", strconv.Itoa(w.health),
		"--bind", Loopback,
	}
	args = append(args, w.flags...)
	for _, key := range slices.Sorted(maps.Keys(w.conf)) {
		args = append(args, "--set", key+"="+w.conf[key])
	}
	cmd := exec.Command(w.bin, args...)
	cmd.Dir = w.dir
	w.proc, err = startProcess("wheelmq", cmd, readyMark)
	return err
}

func (w *wheelmq) launch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := w.start(); err != nil {
		return err
	}
	select {
	case <-w.proc.log.seen:
	case <-w.proc.done:
		return fmt.Errorf("peer: wheelmq ended while starting (%v)\n%s", w.proc.err, w.proc.log.tail())
	case <-ctx.Done():
		return fmt.Errorf("peer: wheelmq did not print %q: %w\n%s", readyMark, ctx.Err(), w.proc.log.tail())
	}
	if err := w.proc.waitReady(ctx, func(ctx context.Context) error {
		// On a full disk it is up, and refuses.
		if err := probeSend(ctx, Address(w.listenPort)); !errors.Is(err, errNotAvailable) {
			return err
		}
		return nil
	}); err != nil {
		return err
	}
	return w.proc.waitReady(ctx, func(ctx context.Context) error {
		return probeRoute(ctx, Address(w.namesrvPort))
	})
}

func (w *wheelmq) halt() error {
	err := w.proc.stop()
	w.proc = nil
	return err
}

func (w *wheelmq) kill() {
	w.proc.kill()
	w.proc = nil
}
