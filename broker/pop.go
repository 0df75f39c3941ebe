package broker

import "github.com/wheelmq/wheelmq/broker/pop"

func (b *Broker) assemblePop() (err error) {
	o := b.opts
	b.pops, err = pop.New(pop.Options{
		StoreHost: o.StoreHost, Store: o.Store, Wire: o.Wire, Log: b.store, Appender: b.appender, Topics: b.topics, Groups: b.groups,
		Offsets: b.offsets, Cluster: o.Config.BrokerClusterName, Park: b.park, Due: b.popDue, Config: b.tables(), FS: b.store.FS(), Sync: o.Config.FlushDiskType == "SYNC_FLUSH",
		Logger: o.Log.WithField("part", "pop"), Metrics: o.Metrics, Health: o.Health, Differences: o.Differences,
		RetryV2: o.Config.EnableRetryTopicV2, Visible: b.popVisible,
	})
	return err
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
