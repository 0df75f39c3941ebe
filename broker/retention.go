package broker

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// retention reads the keys that say when log files are deleted.
func retention(c *config.Config) (store.Retention, error) {
	r := store.Retention{
		ReservedMs: c.FileReservedTime * 3_600_000, MaxRatio: float64(c.DiskMaxUsedSpaceRatio) / 100,
		ForceRatio: float64(c.DiskSpaceCleanForciblyRatio) / 100, ForceEnabled: c.CleanFileForciblyEnable,
		WarnRatio: float64(c.DiskSpaceWarningLevelRatio) / 100, IntervalMs: c.CleanResourceInterval,
	}
	for item := range strings.SplitSeq(c.DeleteWhen, ";") {
		hour, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil || hour < 0 || hour > 23 {
			return r, fmt.Errorf("deleteWhen %q: %q is no hour, want 00 to 23, several separated by ;", c.DeleteWhen, item)
		}
		r.DeleteHours = append(r.DeleteHours, hour)
	}
	return r, nil
}

// oldestPending is the store's pin: the pending delayed message that lies first in the log.
func (b *Broker) oldestPending() (pin store.Pin, ok bool) {
	pin, ok = b.oldestOfLevels()
	if at, pending := b.timer.Pinned(); pending && (!ok || at < pin.CommitLogOffset) {
		pin, ok = store.Pin{CommitLogOffset: at, What: "a timer message that is due within two hours, or a target that refuses those that are due"}, true
	}
	if at, open := b.halves.Pinned(); open && (!ok || at < pin.CommitLogOffset) {
		pin, ok = store.Pin{CommitLogOffset: at, What: "a half message that is neither committed nor rolled back"}, true
	}
	return pin, ok
}

// carriedPart is which part of a log file, one in so many, is stored anew at most when it is deleted.
const carriedPart = 4

// carryParked keeps the parked messages of a log file that is deleted.
func (b *Broker) carryParked(below int64, stop <-chan struct{}) error {
	return b.park.Carry(below, (below-b.store.MinCommitLogOffset())/carriedPart, stop)
}

func (b *Broker) oldestOfLevels() (pin store.Pin, ok bool) {
	for _, l := range b.schedule.Offsets() {
		q := b.store.Queue([]byte(message.TopicSchedule), int32(l.Level-1))
		if q == nil {
			continue
		}
		at := max(l.Delivered, q.Min())
		if at >= q.Max() {
			continue
		}
		u, found := q.Unit(at)
		what := fmt.Sprintf("delay level %d has a message due at %d that is not delivered", l.Level, u.TagsCode)
		if !found {
			u.CommitLogOffset = b.store.MinCommitLogOffset()
			what = fmt.Sprintf("delay level %d has a message that cannot be looked up", l.Level)
		}
		if !ok || u.CommitLogOffset < pin.CommitLogOffset {
			pin, ok = store.Pin{CommitLogOffset: u.CommitLogOffset, What: what}, true
		}
	}
	return pin, ok
}
