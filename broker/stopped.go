package broker

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/offline"
	"github.com/wheelmq/wheelmq/store/region"
)

// Stopped is a store whose server is stopped, of this server or of RocketMQ: what waits in it can be
// looked at. Nothing of it changes.
type Stopped struct {
	store   *store.Store
	waiting waiting
}

// OpenStopped opens the store in a directory, which nobody changes meanwhile. A store that this server
// refuses to open is refused with an error that wraps store.ErrUnsupported.
func OpenStopped(dir string, log logrus.FieldLogger) (*Stopped, error) {
	d, err := offline.Open(region.OS{Root: dir, ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("broker: %s: %w", dir, err)
	}
	report, err := d.Inspect()
	if err := errors.Join(err, d.Close()); err != nil {
		return nil, fmt.Errorf("broker: %s: %w", dir, err)
	}
	if len(report.Unsupported) > 0 {
		return nil, fmt.Errorf("broker: %s: %w: it has %s", dir, store.ErrUnsupported, report.Unsupported[0])
	}
	var now clock.Clock = clock.OpenTimeline(clock.TimelineOptions{File: filepath.Join(dir, "config", "wheelmqClock.json"), Log: log})
	if report.VirtualNow != 0 {
		now = clock.NewVirtual(report.VirtualNow)
	}
	s := &Stopped{}
	s.waiting.log = log
	if err := s.open(dir, report, now); err != nil {
		return nil, errors.Join(fmt.Errorf("broker: %s: %w", dir, err), s.Close())
	}
	return s, nil
}

func (s *Stopped) open(dir string, report *offline.Report, now clock.Clock) (err error) {
	// What a start would change is changed in memory.
	files := region.NewScratch(dir)
	log := s.waiting.log
	s.store, err = store.Open(store.Options{
		FS: files, CommitLogFileSize: int(report.Log.FileSize), MaxMessageSize: max(0, int(report.Log.FileSize)-exportOverhead),
		ConsumeQueueFileSize: int(report.BrokerConf["mappedFileSizeConsumeQueue"]),
		Clock:                now, Wire: clock.Real{}, TagsCode: schedule.TagsCode, Retention: store.Retention{Keep: true}, StoreHost: noHost,
		MessageIndexDisabled: true, Log: log,
	})
	if err == nil {
		err = s.store.Start()
	}
	if err != nil {
		return err
	}
	levels, err := schedule.ParseLevels(schedule.DefaultLevels)
	if err != nil {
		return err
	}
	s.waiting.schedule, err = schedule.New(schedule.Options{
		Levels: schedule.NewLevelTable(levels), Store: now, Wire: clock.Real{}, Log: s.store, Park: leave{log}, Topics: leave{},
		Config: persist.In(files, "config"), Wheel: log,
	})
	if err != nil {
		return err
	}
	s.waiting.timer, err = timer.New(timer.Options{
		Enabled: true, PrecisionMs: 1000, Store: now, Wire: clock.Real{}, Log: s.store, FS: files, Park: leave{log}, Topics: leave{}, Logger: log,
	})
	return err
}

// EachPending is like that of Broker. What is due and was not delivered when the server stopped is
// shown as well.
func (s *Stopped) EachPending(fromMs int64, visit func(p Pending) error) (unread int64, err error) {
	return s.waiting.each(fromMs, visit)
}

// Close lets go of the store.
func (s *Stopped) Close() error {
	var errs []error
	if s.waiting.timer != nil {
		errs = append(errs, s.waiting.timer.Close())
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("broker: %w", err)
	}
	return nil
}
