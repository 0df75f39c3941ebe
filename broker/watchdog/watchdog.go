package watchdog

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/health"
)

const (
	// periodMs is the time between two looks, ms of the wire's clock.
	periodMs = 500
	// hangsMs is how long a service may have overdue messages and do nothing before it counts as hanging.
	hangsMs = 5_000
	// waitsMs is the same for one that tells why it waits: it tries again every ten seconds.
	waitsMs = 30_000
	// restartMs is how long one that does not tell why may hang before only a restart is expected to
	// help: a disk may be slow.
	restartMs = 60_000
	// againMs is the time between two lines of the log about the same trouble.
	againMs = 60_000
)

// Service delivers messages when they are due. Its methods may wait: a look that does not end counts
// as a service that does nothing.
type Service interface {
	// Overdue is how many messages are past due and not delivered, by how much the first of them is,
	// ms of message time, and why, if that is known.
	Overdue() (messages, lateMs int64, why string)
	// Signs is a number that changes while the service lives: looks for what is due, deliveries.
	Signs() int64
}

// Watched is a service by the name that log, health and metrics give it.
type Watched struct {
	Name    string
	Service Service
}

// Options are what a Watchdog needs.
type Options struct {
	Wire        clock.Clock
	ThresholdMs int64 // how late a message may be
	Services    []Watched
	Log         logrus.FieldLogger
	Metrics     prometheus.Registerer // may be nil
	Health      *health.Registry      // may be nil
}

// Watchdog looks after services.
type Watchdog struct {
	opts    Options
	watches []*watch
	stop    chan struct{}
	judging sync.WaitGroup
	looking sync.WaitGroup
}

// watch is what is known of one service.
type watch struct {
	Watched
	ask    chan struct{} // asks for a look
	asking atomic.Bool   // one is under way
	last   atomic.Pointer[look]

	// What follows belongs to the watchdog's goroutine, but for verdict.
	signs    int64
	livesAt  int64 // the last time that signs had changed or nothing was overdue, ms of the wire's clock
	verdict  atomic.Pointer[verdict]
	loggedAt int64
}

// look is what a service has told.
type look struct {
	messages, lateMs int64
	why              string
	signs            int64
}

// verdict is what the watchdog makes of it.
type verdict struct {
	look
	late    bool
	hangsMs int64 // how long it has done nothing about it, when that is too long; else 0
}

// New returns a Watchdog that looks after nothing before Start.
func New(opts Options) (*Watchdog, error) {
	w := &Watchdog{opts: opts, stop: make(chan struct{})}
	for _, s := range opts.Services {
		one := &watch{Watched: s, ask: make(chan struct{}, 1)}
		one.last.Store(&look{})
		one.verdict.Store(&verdict{})
		w.watches = append(w.watches, one)
	}
	if opts.Health != nil {
		opts.Health.Register("watchdog", w.check)
	}
	return w, w.register()
}

// Start begins to look.
func (w *Watchdog) Start() {
	now := w.opts.Wire.NowMillis()
	for _, one := range w.watches {
		one.livesAt = now
		w.looking.Go(func() { w.look(one) })
	}
	w.judging.Go(w.run)
}

// Close stops. A look that is under way is not waited for, since a service that hangs may not answer before
// it is closed itself: see Wait.
func (w *Watchdog) Close() error {
	close(w.stop)
	w.judging.Wait()
	return nil
}

// Wait returns when no look is under way any more. It is due after the services are closed, and before what
// they look at is.
func (w *Watchdog) Wait() error {
	w.looking.Wait()
	return nil
}

// Hangs tells whether a service has overdue messages and does nothing.
func (w *Watchdog) Hangs(name string) bool {
	for _, one := range w.watches {
		if one.Name == name {
			return one.verdict.Load().hangs()
		}
	}
	return false
}

// look asks one service, which may take any time.
func (w *Watchdog) look(one *watch) {
	for {
		select {
		case <-w.stop:
			return
		case <-one.ask:
			var l look
			l.messages, l.lateMs, l.why = one.Service.Overdue()
			l.signs = one.Service.Signs()
			one.last.Store(&l)
			one.asking.Store(false)
		}
	}
}

func (w *Watchdog) run() {
	timer := w.opts.Wire.NewTimer()
	defer timer.Disarm()
	for {
		now := w.opts.Wire.NowMillis()
		for _, one := range w.watches {
			w.judge(one, now)
			if !one.asking.Swap(true) {
				one.ask <- struct{}{}
			}
		}
		timer.Arm(now + periodMs)
		select {
		case <-w.stop:
			return
		case <-timer.C():
		}
	}
}

// judge looks at what a service has told last.
func (w *Watchdog) judge(one *watch, now int64) {
	v := verdict{look: *one.last.Load()}
	v.late = v.lateMs > w.opts.ThresholdMs
	// A look that does not end tells nothing new, and the service counts as doing nothing.
	if v.signs != one.signs || !v.late && !one.asking.Load() {
		one.signs, one.livesAt = v.signs, now
	}
	limit := int64(hangsMs)
	if v.why != "" {
		limit = waitsMs
	}
	if silent := now - one.livesAt; silent >= limit {
		v.hangsMs = silent
	}
	before := one.verdict.Swap(&v)
	w.tell(one, before, &v, now)
}

// tell writes what has changed to the log, and now and then what has not.
func (w *Watchdog) tell(one *watch, before, v *verdict, now int64) {
	log := w.opts.Log.WithFields(logrus.Fields{"service": one.Name, "messages": v.messages, "lateMs": v.lateMs})
	worse := v.hangs() && !before.hangs() || v.trouble() && !before.trouble()
	switch {
	case worse || v.trouble() && now-one.loggedAt >= againMs:
		one.loggedAt = now
		log.WithError(errors.New(v.reason())).Log(v.level(), "delayed messages are past due and not delivered")
	case before.trouble() && !v.trouble():
		log.Info("delayed messages are delivered when they are due again")
	}
}

func (v *verdict) hangs() bool   { return v.hangsMs > 0 }
func (v *verdict) trouble() bool { return v.late || v.hangs() }

func (v *verdict) level() logrus.Level {
	if v.hangs() {
		return logrus.ErrorLevel
	}
	return logrus.WarnLevel
}

// reason says what is wrong.
func (v *verdict) reason() string {
	text := "it does not answer"
	if v.late {
		text = fmt.Sprintf("%d messages are past due, the first by %d ms", v.messages, v.lateMs)
	}
	if v.why != "" {
		text += ": " + v.why
	}
	if v.hangs() {
		text += fmt.Sprintf("; nothing has been done about it for %d s", v.hangsMs/1000)
	}
	return text
}

// check is the watchdog's health: degraded while messages are late, down while a service hangs.
func (w *Watchdog) check() health.Result {
	result := health.Result{State: health.Up}
	for _, one := range w.watches {
		v := one.verdict.Load()
		switch {
		case v.hangs():
			return health.Result{State: health.Down, Reason: one.Name + ": " + v.reason(), Restart: v.hangsMs >= restartMs && v.why == ""}
		case v.late && result.State == health.Up:
			result = health.Result{State: health.Degraded, Reason: one.Name + ": " + v.reason()}
		}
	}
	return result
}
