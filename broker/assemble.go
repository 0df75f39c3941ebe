package broker

import (
	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/assignment"
	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/lock"
	"github.com/wheelmq/wheelmq/broker/longpoll"
	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/park"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/broker/transaction"
	"github.com/wheelmq/wheelmq/remoting"
)

// assemble makes the services in the order in which they need one another, and the router last.
func (b *Broker) assemble() error {
	tables := b.tables()
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"reading topics, groups and offsets", func() error { return b.assembleTables(tables) }},
		{"", b.assembleServing},
		{"reading what waits for its time", func() error { return b.assembleDelays(tables) }},
		{"", b.assembleWatchdog},
		{"", b.watchStore},
	} {
		b.step(step.what)
		if err := step.do(); err != nil {
			return err
		}
	}
	b.assembleInFlight()
	routes := b.routes()
	b.router = remoting.NewRouter(routes, remoting.RouterOptions{Before: b.opts.Before, Log: b.opts.Log})
	b.own = remoting.NewRouter(routes, remoting.RouterOptions{Log: b.opts.Log})
	b.live.Check(b.checkChange)
	b.live.Follow(b.follow)
	return nil
}

// step tells what New is doing.
func (b *Broker) step(what string) {
	if what != "" && b.opts.OnStep != nil {
		b.opts.OnStep(what)
	}
}

// assembleTables makes what the broker knows of topics, groups, clients and offsets.
func (b *Broker) assembleTables(tables persist.Dir) (err error) {
	o, c := b.opts, b.opts.Config
	if b.topics, err = topic.New(topic.Options{
		Store: o.Store, Log: o.Log, Differences: o.Differences, Config: tables, Cluster: c.BrokerClusterName,
		Broker: c.BrokerName, AutoCreate: c.AutoCreateTopicEnable, DefaultQueueNums: int32(c.DefaultTopicQueueNums),
		ScheduleQueues: int32(b.levels.Room()), TraceTopicEnable: c.TraceTopicEnable,
		ClusterTopicEnable: c.ClusterTopicEnable, BrokerTopicEnable: c.BrokerTopicEnable,
	}); err != nil {
		return err
	}
	if b.groups, err = subscription.New(subscription.Options{
		Store: o.Store, Log: o.Log, Config: tables, AutoCreate: c.AutoCreateSubscriptionGroup,
	}); err != nil {
		return err
	}
	if b.clients, err = client.New(client.Options{
		Wire: o.Wire, Log: o.Log, ExpireMs: c.ChannelExpiredTimeout, Config: tables, Metrics: o.Metrics, Health: o.Health,
	}); err != nil {
		return err
	}
	b.modes = assignment.NewModes(assignment.ModesOptions{
		Config: tables, Log: o.Log, Default: c.DefaultMessageRequestMode, DefaultShare: int32(c.DefaultPopShareQueueNum),
	})
	b.offsets, err = offset.New(offset.Options{
		Wire: o.Wire, Store: o.Store, Log: o.Log, Config: tables, FlushMs: c.FlushConsumerOffsetInterval,
		End: b.queueEnd, Before: b.savePops, Online: b.subscribed, Own: transaction.Group, Rewound: o.Rewound,
		Differences: o.Differences, Metrics: o.Metrics, Health: o.Health,
	})
	return err
}

// assembleServing makes what serves clients: held pulls, statistics and locks.
func (b *Broker) assembleServing() (err error) {
	o := b.opts
	if b.polls, err = longpoll.New(longpoll.Options{
		Wire: o.Wire, Records: b.store, Log: o.Log, Metrics: o.Metrics, Health: o.Health,
		MaxTurns: int(o.Config.MaxPopPollingSize), MaxTurnsEach: int(o.Config.PopPollingSize),
	}); err != nil {
		return err
	}
	if b.stats, err = stats.New(stats.Options{Wire: o.Wire, Cluster: o.Config.BrokerClusterName, Metrics: o.Metrics}); err != nil {
		return err
	}
	if b.rpc, err = stats.NewRPC(o.Wire, o.Metrics); err != nil {
		return err
	}
	if err := b.verdicts.Register(o.Metrics); err != nil {
		return err
	}
	b.locks = lock.NewTable(o.Wire)
	return b.locks.Register(o.Metrics)
}

// watchStore shows the store's health and figures.
func (b *Broker) watchStore() error {
	b.opts.Health.RegisterServing("store", b.checkStore)
	b.opts.Health.Register("tables", b.checkTables)
	if err := b.watchIndex(); err != nil {
		return err
	}
	if err := b.registerFigures(); err != nil {
		return err
	}
	return b.registerStoreMetrics(b.opts.Metrics)
}

// assembleDelays makes the door into the store with its hooks, and what delivers what they delay.
func (b *Broker) assembleDelays(tables persist.Dir) (err error) {
	o, c := b.opts, b.opts.Config
	b.timers = timer.NewAdmission(timer.AdmissionOptions{
		Enabled: c.TimerWheelEnable, MaxDelayMs: c.TimerMaxDelaySec * 1000, PrecisionMs: c.TimerPrecisionMs,
		CongestNum: c.TimerCongestNumEachSlot, StartDeliverTime: c.StartDeliverTimeEnable, Virtual: b.virtual != nil,
		Store: o.Store, Differences: o.Differences, CountAt: func(outMs int64) int64 { return b.timer.CountAt(outMs) }, OutOf: b.timerOut,
		Soon: func(now int64) { b.timer.Soon(now) },
	})
	delay := schedule.NewHook(schedule.HookOptions{
		Levels: b.levels, Enabled: c.ScheduleMessageEnable, Store: o.Store, AnyTime: b.timers, Differences: o.Differences,
	})
	prepare := b.admitTransactions(delay)
	b.appender = appender.New(b.store, prepare.Hook(), delay)
	if b.park, err = park.New(park.Options{
		Appender: b.appender, Log: o.Log, Metrics: o.Metrics, Health: o.Health, Differences: o.Differences,
		Pending: b.parked, Records: b.store, Table: tables, QueueFor: b.topics.QueueFor,
	}); err != nil {
		return err
	}
	if err := b.assembleSchedule(tables); err != nil {
		return err
	}
	b.timer, err = timer.New(timer.Options{
		Enabled: c.TimerWheelEnable, PrecisionMs: c.TimerPrecisionMs, MaxDelayMs: c.TimerMaxDelaySec * 1000,
		Store: o.Store, Wire: o.Wire, Log: b.store, FS: b.store.FS(),
		Appender: b.appender, Park: b.park, Topics: b.topics, Logger: o.Log.WithField("part", "timer"), Metrics: o.Metrics,
		Health: o.Health, Differences: o.Differences, Stall: b.timerStall(), Counted: b.countTimers, InOrder: b.virtual != nil, First: b.settleLevels,
		OverdueMs: c.DelayOverdueThreshold, Hangs: b.hangs(serviceTimers),
	})
	if err != nil {
		return err
	}
	b.step("reading what is in flight to consumers that pop")
	if err := b.assemblePop(); err != nil {
		return err
	}
	return b.assembleTransactions(prepare)
}

func (b *Broker) assembleSchedule(tables persist.Dir) (err error) {
	o, c := b.opts, b.opts.Config
	window := 0
	if c.EnableScheduleAsyncDeliver {
		window = int(c.ScheduleAsyncDeliverMaxPendingLimit)
	}
	b.schedule, err = schedule.New(schedule.Options{
		Levels: b.levels, Enabled: c.ScheduleMessageEnable, Store: o.Store, Wire: o.Wire, Log: b.store, Appender: b.appender,
		SaveMs: c.FlushDelayOffsetInterval, Window: window, ResendsToBlocked: int(c.ScheduleAsyncDeliverMaxResendNum2Blocked),
		Park: b.park, Topics: b.topics, Config: tables, Wheel: o.Log.WithField("part", "schedule"),
		Metrics: o.Metrics, Health: o.Health, Differences: o.Differences, Stall: b.stall(), Counted: b.countLevel, InOrder: b.virtual != nil,
		OverdueMs: c.DelayOverdueThreshold, Hangs: b.hangs(serviceSchedule),
	})
	return err
}
