package broker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/offline"
	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer/rocketmq"
)

// ErrNotExportable is wrapped when a store cannot be given to the real broker as it is.
var ErrNotExportable = errors.New("cannot be exported")

// Export makes, in the empty directory dir, a copy of a stopped store that the real broker opens and
// goes on with. Whatever waits for an instant is there once more at the end of the log, behind the
// place where the real broker goes on taking timers out of their queue. done tells how far the copy
// is, bytes. What is in flight to pop consumers becomes the heir's, when its names are known.
func Export(ctx context.Context, from, dir string, heir Heir, log logrus.FieldLogger, done func(bytes, of int64)) (timer.Exported, error) {
	fileSize, err := exportable(from)
	if err != nil {
		return timer.Exported{}, err
	}
	if err := copyStore(ctx, from, dir, done); err != nil {
		return timer.Exported{}, err
	}
	e := &exporter{fs: region.OS{Root: dir}, heir: heir, log: log}
	return e.run(dir, fileSize)
}

// exportable looks for reasons against it, and returns the size of the log's files, bytes.
func exportable(from string) (fileSize int64, err error) {
	d, err := offline.Open(region.OS{Root: from, ReadOnly: true})
	if err != nil {
		return 0, fmt.Errorf("broker: %s: %w", from, err)
	}
	report, err := d.Inspect()
	if err := errors.Join(err, d.Close()); err != nil {
		return 0, fmt.Errorf("broker: %s: %w", from, err)
	}
	switch {
	case len(report.Unsupported) > 0:
		return 0, fmt.Errorf("broker: %s: %w: it has %s", from, store.ErrUnsupported, report.Unsupported[0])
	case report.Waiting.Timers > 0:
		return 0, fmt.Errorf("broker: %s: %w: its %d timers are RocketMQ's already", from, ErrNotExportable, report.Waiting.Timers)
	case report.Abort != "":
		return 0, fmt.Errorf("broker: %s: %w: its server did not end cleanly; start WheelMQ once and stop it", from, ErrNotExportable)
	case report.VirtualNow != 0:
		return 0, fmt.Errorf("broker: %s: %w: its time is a virtual clock's", from, ErrNotExportable)
	case report.Log.FileSize == 0:
		return 0, fmt.Errorf("broker: %s: %w: it has no message", from, ErrNotExportable)
	}
	return report.Log.FileSize, nil
}

// exporter changes a copy of a store into one of the real broker's.
type exporter struct {
	fs    region.FS
	heir  Heir
	log   logrus.FieldLogger
	clock *clock.Timeline
	store *store.Store
}

func (e *exporter) run(dir string, fileSize int64) (done timer.Exported, err error) {
	e.clock = clock.OpenTimeline(clock.TimelineOptions{File: filepath.Join(dir, "config", "wheelmqClock.json"), Log: e.log})
	e.store, err = store.Open(store.Options{
		Dir: dir, CommitLogFileSize: int(fileSize), MaxMessageSize: int(fileSize) - exportOverhead, Clock: e.clock, Wire: clock.Real{},
		TagsCode: schedule.TagsCode, Retention: store.Retention{Keep: true}, StoreHost: noHost, Log: e.log,
	})
	if err != nil {
		return done, fmt.Errorf("broker: %w", err)
	}
	e.clock.NotBefore(e.store.LastTimestamp())
	if err = e.store.Start(); err == nil {
		done, err = e.moveTimers()
	}
	if err == nil {
		err = e.handOverPops(dir)
	}
	if err := errors.Join(err, e.store.Close()); err != nil {
		return done, fmt.Errorf("broker: %w", err)
	}
	for _, name := range []string{"timer", "reserve"} {
		if err := e.fs.Remove(name); err != nil {
			return done, fmt.Errorf("broker: %w", err)
		}
	}
	if err := e.fs.SyncAll(); err != nil {
		return done, fmt.Errorf("broker: %w", err)
	}
	return done, nil
}

// exportOverhead is what a record may have beside its body, and the mark at a file's end, bytes.
const exportOverhead = 64<<10 + message.BlankLength

// noHost is of records that bring no address; those of a store all do.
var noHost = netip.AddrPortFrom(netip.IPv4Unspecified(), 0)

// moveTimers appends what pends to the log, as records that the real broker takes in from their
// queue.
func (e *exporter) moveTimers() (done timer.Exported, err error) {
	s, err := timer.New(timer.Options{
		Enabled: true, PrecisionMs: exportPrecisionMs, Store: e.clock, Wire: clock.Real{}, Log: e.store, FS: e.fs, Park: leave{e.log}, Topics: leave{},
		Logger: e.log,
	})
	if err != nil {
		return done, err
	}
	var from int64
	if q := e.store.Queue([]byte(message.TopicTimer), 0); q != nil {
		from = q.Max()
	}
	done, err = s.Export(e.put)
	if err := errors.Join(err, s.Close(), e.store.Flush()); err != nil {
		return done, err
	}
	return done, rocketmq.Release(e.fs, clock.Real{}.NowMillis(), from)
}

// leave leaves records of the timer queue that nobody can deliver where they are.
type leave struct{ log logrus.FieldLogger }

// Park implements timer.Parker.
func (l leave) Park(_ *message.Record, _, reason string) error {
	l.log.WithField("reason", reason).Warn("a record of the timer queue is left alone")
	return nil
}

// Get implements timer.Topics.
func (leave) Get([]byte) *topic.Config { return nil }
