package timer

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/store/region"
)

const (
	// dir is where the service keeps its files, in the store's directory.
	dir            = "timer"
	checkpointFile = dir + "/checkpoint"
)

// checkpoints is the file of the last checkpoint. It needs no lock.
type checkpoints struct {
	fs     region.FS
	log    Log
	logger logrus.FieldLogger
}

// load reads the checkpoint; nil: there is none that can be used.
func (f *checkpoints) load() *checkpoint {
	b, err := f.fs.ReadFile(checkpointFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		f.logger.WithError(err).Error("the timers' checkpoint cannot be read: the timer queue is read from its beginning")
		return nil
	}
	c, err := decodeCheckpoint(b)
	if err != nil {
		f.logger.WithError(err).Error("the timers' checkpoint cannot be used: the timer queue is read from its beginning")
		return nil
	}
	end, epoch := f.log.MaxCommitLogOffset(), f.log.Epoch()
	if c.epoch != epoch || c.logEnd > end {
		f.logger.WithFields(logrus.Fields{"logEnd": c.logEnd, "end": end, "epoch": c.epoch, "storeEpoch": epoch}).
			Warn("the timers' checkpoint is of another log: the timer queue is read from its beginning")
		return nil
	}
	return c
}

// write replaces the checkpoint.
func (f *checkpoints) write(c *checkpoint) error {
	b, err := c.encode()
	if err != nil {
		return err
	}
	if err := f.fs.WriteFile(checkpointFile, b); err != nil {
		return fmt.Errorf("timer: save the checkpoint: %w", err)
	}
	return nil
}

// forget removes a checkpoint that is not gone on from, durably: the files that it names change from
// here on.
func (f *checkpoints) forget() error {
	if _, err := f.fs.ReadFile(checkpointFile); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := f.fs.Remove(checkpointFile); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	if err := f.fs.SyncDir(dir); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	return nil
}
