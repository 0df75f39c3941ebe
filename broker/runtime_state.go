package broker

import (
	"encoding/json"

	"github.com/wheelmq/wheelmq/broker/processor"
)

// timerAdmin shows how far timers are; with timerWheelEnable=false there are none.
func (b *Broker) timerAdmin() *processor.TimerAdmin {
	if !b.opts.Config.TimerWheelEnable {
		return &processor.TimerAdmin{}
	}
	return &processor.TimerAdmin{State: b.timerState, Topics: b.timerTopics}
}

func (b *Broker) timerState() processor.TimerState {
	p := b.timer.Progress()
	return processor.TimerState{
		ReadMs: p.ReadMs, TakenIn: p.QueueOffset, Queued: p.Max, Pending: p.Pending, EnqueuedTPS: p.TakenIn, DueTPS: p.Due,
		Changes: p.Saves, ChangedAtMs: p.SavedAtMs,
	}
}

func (b *Broker) timerTopics() map[string]processor.TimerTopic {
	topics := make(map[string]processor.TimerTopic)
	for name, p := range b.timer.PendingOf() {
		topics[name] = processor.TimerTopic{Count: p.Messages, ChangedAtMs: p.ChangedAtMs}
	}
	return topics
}

func (b *Broker) delays() []processor.LevelProgress {
	offsets := b.schedule.Offsets()
	list := make([]processor.LevelProgress, len(offsets))
	for i, l := range offsets {
		list[i] = processor.LevelProgress{Level: int(l.Level), Delivered: l.Delivered, Max: l.Max}
	}
	return list
}

func (b *Broker) unflushed() int64 { return b.store.MaxCommitLogOffset() - b.store.FlushedOffset() }

// dispatchBehind is the bytes of the log that consumers cannot read yet.
func (b *Broker) dispatchBehind() int64 {
	return max(0, b.store.MaxCommitLogOffset()-b.store.Published())
}

// configText is the configuration in force and the version that tools show with it.
func (b *Broker) configText() (properties, version string) {
	v, err := json.Marshal(b.topics.DataVersion())
	if err != nil {
		// A struct of three integers always marshals.
		return b.live.Get().Properties(), "{}"
	}
	return b.live.Get().Properties(), string(v)
}
