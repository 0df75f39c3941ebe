package broker

import (
	"slices"

	"github.com/wheelmq/wheelmq/broker/inflight"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/remoting"
)

// popVisible has whoever waits for a queue that is popped in order look at it again.
func (b *Broker) popVisible(k pop.Key) { b.polls.Wake(k.Topic, k.Group, k.QueueID) }

// popInFlight tells whether a message is in flight to a group that pops, and since which instant.
func (b *Broker) popInFlight(at inflight.Place, offset int64) (popTime int64, ok bool) {
	popTime, _, ok = b.pops.Flight(pop.Key{Group: at.Group, Topic: at.Topic, QueueID: at.QueueID}, offset)
	return popTime, ok
}

// popRoutes are the requests of consumers that pop.
func (b *Broker) popRoutes() []remoting.Route {
	o, c := b.opts, b.opts.Config
	sync := c.FlushDiskType == "SYNC_FLUSH"
	b.popping = processor.NewPop(processor.PopOptions{
		Topics: b.topics, Groups: b.groups, Offsets: b.offsets, Windows: b.pops, Store: b.store, Polls: b.polls, Stats: b.stats,
		Time: o.Store, Wire: o.Wire, Differences: o.Differences, Log: o.Log.WithField("part", "pop"), Limits: pullLimits(c),
		Verdicts: &b.verdicts, Readable: b.flag(func(c *config.Config) bool { return c.BrokerPermission&4 != 0 }), BrokerName: c.BrokerName,
		BrokerIP: o.StoreHost.Addr().String(), TimersOff: !c.TimerWheelEnable, SyncFlush: sync,
		InFlight: b.inFlight, PopSettings: popSettings(c),
	})
	return slices.Concat(
		b.popping.Routes(),
		(&processor.PopAck{Topics: b.topics, Groups: b.groups, Store: b.store, Handles: b.pops, Time: o.Store, Stats: b.stats, SyncFlush: sync, InFlight: b.inFlight}).Routes(),
	)
}

// popSettings are what pops look at for every request.
func popSettings(c *config.Config) processor.PopSettings {
	return processor.PopSettings{
		RetryV2: c.EnableRetryTopicV2, MaxInFlight: maxInFlight(c),
		ActualRetryTopic: c.PopResponseReturnActualRetryTopic, RetryPercent: int(c.PopFromRetryProbability),
		RetryPercentPriority: int(c.PopFromRetryProbabilityForPriority), LowQueuesFirst: !c.PriorityOrderAsc,
		NewGroupsAtEnd: !c.InitPopOffsetByCheckMsgInMem,
	}
}

// retriesOf tells whose retries go with a topic: nobody's while clearRetryTopicWhenDeleteTopic is off.
type retriesOf struct{ b *Broker }

// Groups are the groups that consume a topic.
func (r retriesOf) Groups(topic string) []string {
	if !r.b.live.Get().ClearRetryTopicWhenDeleteTopic {
		return nil
	}
	return r.b.offsets.Groups(topic)
}
