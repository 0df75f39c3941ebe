package broker

import "github.com/wheelmq/wheelmq/broker/watchdog"

// The services that the watchdog looks after, by the names that are shown.
const (
	serviceSchedule = "schedule"
	serviceTimers   = "timers"
)

func (b *Broker) assembleWatchdog() (err error) {
	o := b.opts
	b.watchdog, err = watchdog.New(watchdog.Options{
		Wire: o.Wire, ThresholdMs: o.Config.DelayOverdueThreshold, Log: o.Log.WithField("part", "watchdog"), Metrics: o.Metrics, Health: o.Health,
		Services: []watchdog.Watched{{Name: serviceSchedule, Service: b.schedule}, {Name: serviceTimers, Service: b.timer}},
	})
	return err
}

// hangs asks the watchdog, which comes after the services, about one of them.
func (b *Broker) hangs(service string) func() bool {
	return func() bool { return b.watchdog != nil && b.watchdog.Hangs(service) }
}
