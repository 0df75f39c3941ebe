package broker

import "github.com/wheelmq/wheelmq/broker/pop"

func (b *Broker) assemblePop() (err error) {
	o := b.opts
	b.pops, err = pop.New(pop.Options{
		StoreHost: o.StoreHost, Store: o.Store, Wire: o.Wire, Log: b.store, Appender: b.appender, Topics: b.topics, Groups: b.groups,
		Offsets: b.offsets, Cluster: o.Config.BrokerClusterName, Park: b.park, Due: b.popDue,
		Config: b.tables(), FS: b.store.FS(), Sync: o.Config.FlushDiskType == "SYNC_FLUSH",
		Logger: o.Log.WithField("part", "pop"), Metrics: o.Metrics, Health: o.Health, Differences: o.Differences,
		RetryV2: o.Config.EnableRetryTopicV2, Visible: b.popVisible, MaxInFlight: b.maxInFlight(),
	})
	return err
}

// maxInFlight is how many messages of a queue may be in flight to a group that pops for it to be given more; 0:
// any number. The threshold may be passed, as the real broker's may.
func (b *Broker) maxInFlight() int64 {
	if c := b.opts.Config; c.EnablePopMessageThreshold {
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
