package broker

import (
	"path/filepath"
	"slices"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

// routes is the broker's table: every request code it serves or refuses.
func (b *Broker) routes() []remoting.Route {
	return slices.Concat(b.sendRoutes(), b.pullRoutes(), b.groupRoutes(), b.queryRoutes(), b.adminRoutes(), processor.Refused())
}

// sendRoutes are the requests that store messages.
func (b *Broker) sendRoutes() []remoting.Route {
	o, c := b.opts, b.opts.Config
	sync, mayWrite := c.FlushDiskType == "SYNC_FLUSH", b.flag(func(c *config.Config) bool { return c.BrokerPermission&2 != 0 })
	b.send = processor.NewSend(processor.SendOptions{
		Topics: b.topics, Groups: b.groups, Locks: b.locks, Appender: b.appender, Stats: b.stats, Store: o.Store, Wire: o.Wire,
		Differences: o.Differences, StoreHost: o.StoreHost, Region: c.RegionID, Cluster: c.BrokerClusterName, Broker: c.BrokerName,
		TraceOn: c.TraceOn, SyncFlush: sync, MaxMessageSize: int(c.MaxMessageSize), Prepared: b.halves.Prepared, Requesters: b.clients,
		AnyTime: b.timers, Writable: mayWrite,
		RejectTransactions: b.flag(func(c *config.Config) bool { return c.RejectTransactionMessage }),
	})
	return slices.Concat(
		b.send.Routes(),
		(&processor.Reply{
			Send: b.send, Clients: b.clients, Time: o.Store, Log: o.Log,
			Stored: b.flag(func(c *config.Config) bool { return c.StoreReplyMessageEnable }),
		}).Routes(),
		(&processor.SendBack{
			Topics: b.topics, Groups: b.groups, Appender: b.appender, Store: b.store, Stats: b.stats, StoreHost: o.StoreHost,
			InFlight: b.inFlight,
		}).Routes(),
		processor.NewEndTransaction(b.halves).Routes(),
		(&processor.Recall{
			Topics: b.topics, Appender: b.appender, Stats: b.stats, Store: o.Store, StoreHost: o.StoreHost, Broker: c.BrokerName,
			Region: c.RegionID, MaxDelayMs: func() int64 { return maxDelayMs(b.live.Get()) }, SyncFlush: sync, Allowed: b.recallAllowed,
			Writable: b.flag(func(c *config.Config) bool { return c.BrokerPermission&2 != 0 || c.AllowRecallWhenBrokerNotWriteable }),
		}).Routes(),
		b.timerAdmin().Routes(),
	)
}

// pullRoutes are the requests by which consumers read and say how far they are.
func (b *Broker) pullRoutes() []remoting.Route {
	o, c := b.opts, b.opts.Config
	b.pull = processor.NewPull(processor.PullOptions{
		Topics: b.topics, Groups: b.groups, Clients: b.clients, Offsets: b.offsets, Store: b.store, Polls: b.polls,
		Stats: b.stats, Wire: o.Wire, Differences: o.Differences, Log: o.Log, InFlight: b.inFlight, Rewound: o.Rewound,
		Readable: b.flag(func(c *config.Config) bool { return c.BrokerPermission&4 != 0 }), BrokerName: c.BrokerName,
		Verdicts: &b.verdicts, PropertyFilter: b.propertyFilter, PullSettings: pullSettings(c),
	})
	return slices.Concat(
		b.pull.Routes(),
		(&processor.ConsumerOffset{
			Topics: b.topics, Groups: b.groups, Offsets: b.offsets, Clients: b.clients, Store: b.store, HotBytes: hotBytes(),
		}).Routes(),
		(&processor.OffsetReset{
			BrokerName: c.BrokerName, Topics: b.topics, Groups: b.groups, Clients: b.clients, Offsets: b.offsets, Store: b.store, Polls: b.polls,
			ServerSide:  b.flag(func(c *config.Config) bool { return c.UseServerSideResetOffset }),
			Differences: o.Differences, Log: o.Log,
		}).Routes(),
		(&processor.QueueOffset{Store: b.store}).Routes(),
		b.popRoutes(),
	)
}

// groupRoutes are the requests about clients and their groups.
func (b *Broker) groupRoutes() []remoting.Route {
	o, c := b.opts, b.opts.Config
	return slices.Concat(
		(&processor.Relay{BrokerName: c.BrokerName, Clients: b.clients, Topics: b.topics, Groups: b.groups, Store: b.store, Log: o.Log}).Routes(),
		(&processor.Heartbeat{
			Clients: b.clients, Groups: b.groups, Topics: b.topics, PropertyFilter: b.propertyFilter, Log: o.Log,
			RejectPullConsumer: b.flag(func(c *config.Config) bool { return c.RejectPullConsumerEnable }),
		}).Routes(),
		(&processor.ConsumerAdmin{Clients: b.clients, Offsets: b.offsets, Differences: b.opts.Differences}).Routes(),
		(&processor.ConsumeStats{
			BrokerName: c.BrokerName, BrokerAddr: o.StoreHost.String(), Clients: b.clients, Groups: b.groups, Offsets: b.offsets,
			Topics: b.topics, Store: b.store, Stats: b.stats, Pops: b.pops, Delayed: b.delayed, Time: o.Store, Differences: o.Differences,
		}).Routes(),
		(&processor.Lock{Locks: b.locks}).Routes(),
		(&processor.Assignment{
			BrokerName: c.BrokerName, Modes: b.modes, Topics: b.topics, Groups: b.groups, Clients: b.clients, Elsewhere: o.Routes,
			Undivided: b.flag(func(c *config.Config) bool { return !c.ServerLoadBalancerEnable }),
		}).Routes(),
	)
}

// queryRoutes are the requests that look at messages, queues and the broker.
func (b *Broker) queryRoutes() []remoting.Route {
	o, c := b.opts, b.opts.Config
	return slices.Concat(
		(&processor.QueueUnits{Clients: b.clients, Store: b.store, Pops: b.pops, Differences: o.Differences}).Routes(),
		(&processor.Query{Index: b.store, DefaultMaxNum: func() int { return int(b.live.Get().DefaultQueryMaxNum) }, Differences: o.Differences}).Routes(),
		(&processor.View{Store: b.store, Differences: o.Differences}).Routes(),
		(&processor.TopicStats{BrokerName: c.BrokerName, Topics: b.topics, Store: b.store, Stats: b.stats}).Routes(),
		(&processor.RuntimeInfo{
			Stats: b.stats, Store: b.store, Wire: o.Wire, CommitLogDir: filepath.Join(c.StorePathRootDir, "commitlog"),
			Space:  b.store.FS().Space,
			Delays: b.delays, Timers: b.timerState, MessageTime: o.Store, Unflushed: b.unflushed,
			DispatchBehind: b.dispatchBehind, Waiting: o.Waiting, Config: b.configText, Differences: o.Differences,
		}).Routes(),
	)
}

// adminRoutes are the requests that change topics and groups, and tidy up.
func (b *Broker) adminRoutes() []remoting.Route {
	o := b.opts
	return slices.Concat(
		(&processor.BrokerConfig{Config: b.live, Differences: o.Differences, Log: o.Log}).Routes(),
		(&processor.Replica{ConsumerOffsets: b.offsets.Marshal, DelayOffsets: b.schedule.Marshal, Store: b.store}).Routes(),
		(&processor.Without{Queues: b.store, Offsets: b.offsets}).Routes(),
		(&processor.Correction{Offsets: b.offsets, Store: b.store, Differences: o.Differences}).Routes(),
		(&processor.Housekeeping{Store: b.store, Kept: b.keepsQueues, Log: o.Log}).Routes(),
		(&processor.TopicAdmin{
			Topics: b.topics, Data: b.store, Rows: []processor.TopicRows{b.pops, b.offsets, b.stats, b.inFlight}, Differences: o.Differences,
			Consumed: retriesOf{b},
		}).Routes(),
		(&processor.GroupAdmin{
			Groups: b.groups, Rows: []processor.GroupRows{b.locks, b.stats, b.clients, b.inFlight}, Progress: []processor.GroupRows{b.pops, b.offsets},
			Differences: o.Differences,
		}).Routes(),
	)
}

// keepsQueues tells whether a topic is in use: its queues are not to be cleaned away.
func (b *Broker) keepsQueues(name string) bool {
	return b.topics.GetString(name) != nil || topic.Rule([]byte(name)).System
}

// recallAllowed tells whether messages may be recalled. That is this server's default, not the real
// broker's.
func (b *Broker) recallAllowed() bool {
	const key = "recallMessageEnable"
	c := b.live.Get()
	if !c.RecallMessageEnable || c.Source(key) != config.SourceDefault {
		return c.RecallMessageEnable
	}
	return b.opts.Differences.Use(difference.RecallByDefault)
}

// propertyFilter tells whether SQL92 filters are served. That is this server's default, not the real
// broker's.
func (b *Broker) propertyFilter() bool {
	const key = "enablePropertyFilter"
	c := b.live.Get()
	if !c.EnablePropertyFilter || c.Source(key) != config.SourceDefault {
		return c.EnablePropertyFilter
	}
	return b.opts.Differences.Use(difference.SQLByDefault)
}
