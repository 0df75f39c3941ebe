package rocketmq

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/wheelmq/wheelmq/store/region"
)

const wheelFile = "timerwheel"

// blockText is a wheel of the wrong length: a real broker with timers does not start with it, and
// whoever looks why finds this.
const blockText = `WheelMQ keeps the timers of this store in the directory timer/.
A real broker does not know them: it would deliver none, or all of them again. It may have
  - the store, when WheelMQ was stopped while no timer waited: this file is gone then;
  - a copy with all timers in it, made by: wheelmq store export --to DIR STORE
`

// Blocked tells whether the wheel keeps the real broker out: what pends is this server's.
func Blocked(tree region.FS) (bool, error) {
	entries, err := tree.List(".")
	if err != nil {
		return false, fmt.Errorf("rocketmq: %w", err)
	}
	for _, e := range entries {
		if e.Name != wheelFile {
			continue
		}
		// A wheel is large, and not to be read.
		if e.Dir || e.Size > 2*int64(len(blockText)) {
			return false, nil
		}
		b, err := tree.ReadFile(wheelFile)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("rocketmq: %w", err)
		}
		return bytes.HasPrefix(b, []byte(blockText[:strings.IndexByte(blockText, '\n')])), nil
	}
	return false, nil
}

// Block keeps the real broker out from now on, durably: its wheel is replaced by one of the wrong
// length. What pends in its files must be durable elsewhere.
func Block(tree region.FS) error {
	if err := tree.WriteFile(wheelFile, []byte(blockText)); err != nil {
		return fmt.Errorf("rocketmq: %s: %w", wheelFile, err)
	}
	if err := removeRest(tree); err != nil {
		return err
	}
	// Its presence tells later that a real broker may have been here, see store.
	if _, ok, err := ReadCheckpoint(tree); err != nil || ok {
		return err
	}
	return Checkpoint{}.write(tree)
}

// Release lets the real broker have the store again, durably: nothing pends before a unit of the
// timer topic's queue, and it goes on from there. It makes a wheel by itself. nowMs is the wall's
// clock.
func Release(tree region.FS, nowMs, queueOffset int64) error {
	if err := removeRest(tree); err != nil {
		return err
	}
	if err := released(nowMs, queueOffset).write(tree); err != nil {
		return err
	}
	if err := tree.Remove(wheelFile); err != nil {
		return fmt.Errorf("rocketmq: %w", err)
	}
	return syncRoot(tree)
}

// removeRest removes the timer log and the snapshots of wheels.
func removeRest(tree region.FS) error {
	entries, err := tree.List(".")
	if err != nil {
		return fmt.Errorf("rocketmq: %w", err)
	}
	for _, e := range entries {
		if e.Name != logDir && !strings.HasPrefix(e.Name, wheelFile+".") {
			continue
		}
		if err := tree.Remove(e.Name); err != nil {
			return fmt.Errorf("rocketmq: %w", err)
		}
	}
	return syncRoot(tree)
}

func syncRoot(tree region.FS) error {
	if err := tree.SyncDir("."); err != nil {
		return fmt.Errorf("rocketmq: %w", err)
	}
	return nil
}
