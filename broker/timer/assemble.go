package timer

import (
	"sync"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/message"
)

// assemble makes the parts of a service.
func (s *Service) assemble() {
	o := &s.opts
	s.state = state{precisionMs: o.PrecisionMs, superseding: make(superseding), moved: make(moved)}
	s.state.topics.init()
	s.records = records{log: o.Log, precisionMs: o.PrecisionMs, logger: o.Logger}
	s.parking.park = o.Park
	s.looks = looks{state: &s.state, records: &s.records, ctx: s.ctx}
	s.assembleDriver()
	s.assembleIntake()
	s.assembleLoader()
	s.assembleDelivery()
	s.assembleSaver()
	s.assembleLooks()
}

func (s *Service) assembleDriver() {
	o := &s.opts
	s.driver = driver{
		Driver: redeliver.NewDriver(s.ctx.Done()), state: &s.state, intake: &s.intake, handover: &s.handover, loader: &s.loader,
		delivery: &s.delivery, lister: &s.lister, pin: &s.pin, clock: o.Store, logger: o.Logger, inOrder: o.InOrder,
		withheld: withheld{stall: o.Stall, logger: o.Logger},
	}
}

func (s *Service) assembleIntake() {
	o := &s.opts
	s.intake = intake{
		state: &s.state, records: &s.records, looks: &s.looks, parking: &s.parking, logger: o.Logger,
		copy: redeliver.NewCopier(o.Log, o.Topics, message.TopicTimer, o.Differences), own: s.handover.own, half: nothing,
	}
	s.handover = handover{
		state: &s.state, records: &s.records, intake: &s.intake, fs: o.FS, clock: o.Store, logger: o.Logger, enabled: o.Enabled,
		save: func() error { return s.saver.save(false) }, differences: o.Differences, done: sync.NewCond(&s.state.mu),
	}
}

func (s *Service) assembleLoader() {
	o := &s.opts
	s.sorter = sorter{
		state: &s.state, records: &s.records, intake: &s.intake, wire: o.Wire, logger: o.Logger, ctx: s.ctx,
		wake: s.driver.Wake, jobs: make(chan job, maxJobs),
	}
	s.prefetcher = prefetcher{log: o.Log, ctx: s.ctx, lists: make(chan []place, maxPrefetches)}
	s.loader = loader{
		state: &s.state, records: &s.records, sorter: &s.sorter, prefetcher: &s.prefetcher, logger: o.Logger,
		ctx: s.ctx, wg: &s.wg, wake: s.driver.Wake, inOrder: o.InOrder,
	}
}

func (s *Service) assembleDelivery() {
	o := &s.opts
	s.delivery = delivery{
		state: &s.state, records: &s.records, parking: &s.parking, appender: o.Appender, clock: o.Store, logger: o.Logger,
		ctx: s.ctx, wake: s.driver.Wake, before: o.First, counted: o.Counted, inOrder: o.InOrder,
		copy: redeliver.NewCopier(o.Log, o.Topics, message.TopicTimer, o.Differences),
	}
	s.delivery.held.init()
	s.delivery.putter.init(o.Appender)
}

func (s *Service) assembleSaver() {
	o := &s.opts
	s.pin = pin{state: &s.state, intake: &s.intake, enabled: o.Enabled}
	s.pin.init()
	s.rates = rates{state: &s.state, delivered: &s.delivery.delivered, at: o.Wire.NowMillis()}
	s.saver = saver{
		state: &s.state, log: o.Log, intake: &s.intake, handover: &s.handover, pin: &s.pin, rates: &s.rates,
		checkpoints: checkpoints{fs: o.FS, log: o.Log, logger: o.Logger},
		clock:       o.Store, wire: o.Wire, logger: o.Logger, ctx: s.ctx, everyMs: o.SaveMs,
	}
}

// assembleLooks makes what looks at what pends, and changes it.
func (s *Service) assembleLooks() {
	o := &s.opts
	s.changes = changes{
		state: &s.state, records: &s.records, intake: &s.intake, handover: &s.handover, looks: &s.looks, held: &s.delivery.held,
		appender: o.Appender, clock: o.Store, wire: o.Wire, logger: o.Logger, ctx: s.ctx, wake: s.driver.Wake, enabled: o.Enabled,
	}
	s.changes.maxDelayMs.Store(o.MaxDelayMs)
	s.lister = lister{
		state: &s.state, records: &s.records, intake: &s.intake, held: &s.delivery.held, looks: &s.looks, clock: o.Store,
		logger: o.Logger, enabled: o.Enabled,
	}
	s.lookout = lookout{state: &s.state, wire: o.Wire, take: s.takeFigures}
}
