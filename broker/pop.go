package broker

import (
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/config"
)

func (b *Broker) assemblePop() (err error) {
	o := b.opts
	b.pops, err = pop.New(pop.Options{
		StoreHost: o.StoreHost, Store: o.Store, Wire: o.Wire, Log: b.store, Appender: b.appender, Topics: b.topics, Groups: b.groups,
		Offsets: b.offsets, Cluster: o.Config.BrokerClusterName, Park: b.park, Due: b.popDue,
		Config: b.tables(), FS: b.store.FS(), Sync: o.Config.FlushDiskType == "SYNC_FLUSH",
		Logger: o.Log.WithField("part", "pop"), Metrics: o.Metrics, Health: o.Health, Differences: o.Differences,
		Settings: popServiceSettings(o.Config), Visible: b.popVisible,
	})
	return err
}

func popServiceSettings(c *config.Config) pop.Settings {
	return pop.Settings{RetryV2: c.EnableRetryTopicV2, MaxInFlight: maxInFlight(c)}
}

// maxInFlight is how many messages of a queue may be in flight to a group that pops for it to be given more; 0:
// any number. The threshold may be passed, as the real broker's may.
func maxInFlight(c *config.Config) int64 {
	if c.EnablePopMessageThreshold {
		return c.PopInflightMessageThreshold + 1
	}
	return 0
}

// popDue lets a clock that goes by itself look at a message that was popped.
func (b *Broker) popDue() {
	if b.time != nil {
		b.time.Kick()
	}
}

// savePops makes durable what was popped, ahead of the offsets that are past it.
func (b *Broker) savePops() error {
	if b.pops == nil {
		return nil
	}
	return b.pops.Save()
}
