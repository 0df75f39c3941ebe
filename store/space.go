package store

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/store/region"
)

// fullRetryMs is how often a full disk is looked at again, ms.
const fullRetryMs = 1000

// A disk is full when the spare log file or the reserve cannot be kept, or when more of it is
// used than diskSpaceWarningLevelRatio. Clients' records are refused then; the broker's own
// may use the spare and the reserve.

// setFull refuses clients' records from now on.
func (s *Store) setFull(why string) {
	if s.full.Swap(&why) == nil && !s.closing() {
		s.opts.Log.WithFields(logrus.Fields{"reason": why, "reserve": s.reserve.left()}).
			Error("the disk is full: clients' messages are refused, due messages go on while the reserve lasts")
		s.wakeClean()
	}
}

func (s *Store) clearFull() {
	if s.full.Swap(nil) != nil {
		s.opts.Log.Info("the disk has space again: messages are accepted")
	}
}

// fullReason is why clients' records are refused for want of space, or "".
func (s *Store) fullReason() string {
	if why := s.full.Load(); why != nil {
		return *why
	}
	return ""
}

// noSpace says that a reservation failed.
func (s *Store) noSpace(err error) {
	if errors.Is(err, region.ErrNoSpace) {
		s.setFull(fmt.Sprintf("the disk of %s is full: %v", s.opts.Dir, err))
	}
}

// CheckSpace looks at the disk now, rather than at the next interval. It needs a store that was
// started.
func (s *Store) CheckSpace() {
	if s.closing() {
		return
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { s.afterFault(recover()) }()
	s.checkSpace()
}

// checkSpace takes back what is missing of spare and reserve, and refuses or accepts clients'
// records by what it finds.
func (s *Store) checkSpace() {
	s.spaceMu.Lock()
	defer s.spaceMu.Unlock()
	err := s.log.makeSpare()
	if err == nil {
		err = s.reserve.fill()
	}
	if err != nil {
		if errors.Is(err, region.ErrNoSpace) {
			s.noSpace(err)
		} else if !s.closing() {
			s.opts.Log.WithError(err).Error("no file can be made ahead")
		}
		return
	}
	space, err := s.fs.Space()
	if errors.Is(err, region.ErrNoSpace) {
		s.noSpace(err)
		return
	}
	if err != nil {
		s.opts.Log.WithError(err).Warn("the disk's free space cannot be told")
		s.clearFull()
		return
	}
	if used := space.Ratio(); used > s.keep.Load().WarnRatio {
		s.setFull(fmt.Sprintf("the disk of %s is used to %.1f %%, more than diskSpaceWarningLevelRatio %.0f %% (%d bytes free)",
			s.opts.Dir, used*100, s.keep.Load().WarnRatio*100, space.Free))
		return
	}
	s.clearFull()
}

// writeFile replaces a small file, with space of the reserve on a full disk. Who names what is
// durable may fall behind, but must not fail for want of space: the file that is there stays.
func (s *Store) writeFile(name string, b []byte) error {
	for {
		err := s.fs.WriteFile(name, b)
		if !errors.Is(err, region.ErrNoSpace) {
			return err
		}
		s.noSpace(err)
		if released, failed := s.reserve.release(); !released || failed != nil {
			return errors.Join(err, failed)
		}
	}
}
