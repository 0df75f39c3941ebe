package broker

import (
	"errors"
	"io/fs"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/config"
)

// overridesFile is the file of what was changed while the server ran, in the config directory.
const overridesFile = "wheelmqConfig.json"

// configFile is overridesFile: {"changed":{"key":{"value":"…","instead":"…"}}}.
type configFile struct {
	Changed map[string]config.Override `json:"changed"`
}

// openConfig applies what was changed while an earlier life ran to what is configured. What cannot be
// read keeps nobody from starting.
func (b *Broker) openConfig() {
	tables := b.tables()
	var file configFile
	if err := tables.Load(overridesFile, &file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.opts.Log.WithError(err).Error("what was changed of the configuration cannot be read: broker.conf and the command line apply")
	}
	var notes []string
	b.live, notes = config.NewLive(b.opts.Config, file.Changed, func(changed map[string]config.Override) error {
		return tables.Save(overridesFile, &configFile{changed})
	})
	for _, note := range notes {
		b.opts.Log.Warn(note)
	}
	b.opts.Config = b.live.Get()
}

// Config is the configuration in force; what is returned does not change.
func (b *Broker) Config() *config.Config { return b.live.Get() }

// checkChange refuses a configuration that the services could not follow.
func (b *Broker) checkChange(c *config.Config) error {
	levels, err := schedule.ParseLevels(c.MessageDelayLevel)
	if err != nil {
		return err
	}
	if err := b.levels.Fits(levels); err != nil {
		return err
	}
	if err := b.store.FitsBodies(int(c.MaxMessageSize)); err != nil {
		return err
	}
	_, err = retention(c)
	return err
}

// follow hands a change on to the services that do not look at Config themselves. Every key that is
// marked live is here, or read through Config where it matters.
func (b *Broker) follow(before, after *config.Config) {
	if levels, err := schedule.ParseLevels(after.MessageDelayLevel); err == nil {
		b.levels.Set(levels)
	}
	if keep, err := retention(after); err == nil {
		keep.Keep = b.keepsFiles()
		b.store.Keep(keep)
	}
	b.groups.AutoCreate(after.AutoCreateSubscriptionGroup)
	b.clients.ExpireAfter(after.ChannelExpiredTimeout)
	b.offsets.SaveWithin(after.FlushConsumerOffsetInterval)
	b.schedule.SaveEvery(after.FlushDelayOffsetInterval)
	b.timers.Limit(timer.Limits{
		MaxDelayMs: maxDelayMs(after), CongestNum: after.TimerCongestNumEachSlot, StartDeliverTime: after.StartDeliverTimeEnable,
	})
	b.timer.LimitDelay(maxDelayMs(after))
	b.pull.Set(pullSettings(after))
	b.followPops(after)
	b.send.TraceOn(after.TraceOn)
	b.send.LimitBodies(int(after.MaxMessageSize))
	b.store.LimitBodies(int(after.MaxMessageSize))
	b.halves.Set(transactionTimes(after), int(after.TransactionCheckMax))
	if before.BrokerPermission != after.BrokerPermission {
		b.tableSaved(b.topics.Announce())
	}
	if before.AutoCreateTopicEnable != after.AutoCreateTopicEnable || before.DefaultTopicQueueNums != after.DefaultTopicQueueNums {
		b.tableSaved(b.topics.AutoCreate(after.AutoCreateTopicEnable, int32(after.DefaultTopicQueueNums)))
	}
}

// followPops hands on what is about consumers that pop, and about queues that the broker divides.
func (b *Broker) followPops(c *config.Config) {
	b.popping.Limit(pullLimits(c))
	b.popping.Set(popSettings(c))
	b.pops.Set(popServiceSettings(c))
	b.polls.LimitTurns(int(c.MaxPopPollingSize), int(c.PopPollingSize))
	b.modes.Standard(c.DefaultMessageRequestMode, int32(c.DefaultPopShareQueueNum))
}

func (b *Broker) tableSaved(err error) {
	if err != nil {
		b.opts.Log.WithError(err).Error("the topic table cannot be saved")
	}
}

// flag is a key that handlers read for every request.
func (b *Broker) flag(read func(c *config.Config) bool) func() bool {
	return func() bool { return read(b.live.Get()) }
}

func maxDelayMs(c *config.Config) int64 { return c.TimerMaxDelaySec * 1000 }

// keepsFiles tells whether log files go on request only: a virtual clock passes hours in a moment.
func (b *Broker) keepsFiles() bool { return b.virtual != nil && !b.opts.ExpireFiles }

func pullSettings(c *config.Config) processor.PullSettings {
	return processor.PullSettings{
		NoLitePull: !c.LitePullMessageEnable, LongPolling: c.LongPollingEnable, ShortPollingMs: c.ShortPollingTimeMills,
		Limits: pullLimits(c),
	}
}

func pullLimits(c *config.Config) processor.PullLimits {
	return processor.PullLimits{
		HotBytes:   hotBytes(),
		MemoryMsgs: int32(c.MaxTransferCountOnMessageInMemory), MemorySize: c.MaxTransferBytesOnMessageInMemory,
		DiskMsgs: int32(c.MaxTransferCountOnMessageInDisk), DiskSize: c.MaxTransferBytesOnMessageInDisk,
	}
}
