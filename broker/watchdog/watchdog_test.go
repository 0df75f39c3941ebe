package watchdog_test

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/broker/watchdog"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/internal/await"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const startMs = 1_000_000

// service is one that says what a test wants.
type service struct {
	mu             sync.Mutex
	messages, late int64
	why            string
	signs          int64
}

func (s *service) set(messages, late int64, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages, s.late, s.why = messages, late, why
}

func (s *service) live() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signs++
}

func (s *service) Overdue() (messages, lateMs int64, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messages, s.late, s.why
}

func (s *service) Signs() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signs
}

type lab struct {
	*testing.T
	wire    *clock.Virtual
	service *service
	dog     *watchdog.Watchdog
	health  *health.Registry
	metrics *prometheus.Registry
	log     *test.Hook
	held    bool // the service does not answer
	closed  bool // by the test
}

func open(t *testing.T) *lab {
	t.Helper()
	log, hook := test.NewNullLogger()
	log.SetOutput(io.Discard)
	l := &lab{T: t, wire: clock.NewVirtual(startMs), service: &service{}, health: health.NewRegistry(), metrics: prometheus.NewRegistry(), log: hook}
	dog, err := watchdog.New(watchdog.Options{
		Wire: l.wire, ThresholdMs: 2000, Services: []watchdog.Watched{{Name: "schedule", Service: l.service}}, Log: log, Metrics: l.metrics, Health: l.health,
	})
	if err != nil {
		t.Fatal(err)
	}
	l.dog = dog
	dog.Start()
	t.Cleanup(func() {
		if !l.closed {
			_ = dog.Close()
		}
		_ = dog.Wait()
	})
	l.armed(startMs + 500)
	return l
}

func (l *lab) armed(at int64) {
	l.Helper()
	l.await("the next look", func() bool { next, armed := l.wire.Next(); return armed && next == at })
}

func (l *lab) await(what string, ok func() bool) {
	l.Helper()
	await.Until(l, what, ok)
}

// pass lets ms of real time pass, in the steps of the watchdog's looks; each of them does before it.
func (l *lab) pass(ms int64, each func()) {
	l.Helper()
	for range ms / 500 {
		if each != nil {
			each()
		}
		if !l.held {
			l.await("the look of the step before ends", func() bool { return !l.dog.Looking() })
		}
		now := l.wire.NowMillis() + 500
		l.wire.Set(now)
		l.armed(now + 500)
	}
}

func (l *lab) part() health.Result { return l.health.Report().Parts["watchdog"] }

func (l *lab) says(level logrus.Level) (n int) {
	for _, e := range l.log.AllEntries() {
		if e.Level == level {
			n++
		}
	}
	return n
}

func (l *lab) gauge(name string) float64 {
	l.Helper()
	families, err := l.metrics.Gather()
	if err != nil {
		l.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	l.Fatalf("no metric %s", name)
	return 0
}

// TestLate: a service that is behind and works shows within two seconds, and when it has caught up.
func TestLate(t *testing.T) {
	t.Parallel()
	l := open(t)
	l.service.set(3, 2000, "")
	l.pass(2000, l.service.live)
	if got := l.part(); got.State != health.Up {
		t.Fatalf("late by no more than the threshold, and yet %+v", got)
	}
	l.service.set(7, 2001, "level 5: the disk is full")
	l.pass(2000, l.service.live)
	if got := l.part(); got.State != health.Degraded || !strings.Contains(got.Reason, "schedule: 7 messages are past due, the first by 2001 ms: level 5: the disk is full") {
		t.Errorf("health %+v", got)
	}
	if l.gauge("rocketmq_delay_overdue") != 1 || l.gauge("rocketmq_delay_oldest_overdue_seconds") != 2.001 || l.gauge("rocketmq_delay_overdue_messages") != 7 {
		t.Error("the metrics do not show it")
	}
	if l.says(logrus.WarnLevel) != 1 {
		t.Errorf("said %d times", l.says(logrus.WarnLevel))
	}
	l.pass(61_000, l.service.live)
	if l.says(logrus.WarnLevel) != 2 {
		t.Errorf("said %d times in a minute", l.says(logrus.WarnLevel))
	}
	l.service.set(0, 0, "")
	l.pass(1000, nil)
	if got := l.part(); got.State != health.Up || l.says(logrus.InfoLevel) != 1 || l.gauge("rocketmq_delay_overdue") != 0 {
		t.Errorf("caught up, and yet %+v, said %d times", got, l.says(logrus.InfoLevel))
	}
}

// TestHangs: a service that does nothing about what is overdue is down, and at last only a restart helps.
func TestHangs(t *testing.T) {
	t.Parallel()
	l := open(t)
	l.pass(10_000, nil) // it sleeps, and nothing is due
	l.service.set(1, 3000, "")
	l.pass(4000, nil)
	if got := l.part(); got.State != health.Degraded || l.dog.Hangs("schedule") {
		t.Fatalf("after 4 s %+v", got)
	}
	l.pass(3000, nil)
	if got := l.part(); got.State != health.Down || got.Restart || !l.dog.Hangs("schedule") || l.says(logrus.ErrorLevel) != 1 {
		t.Fatalf("after 7 s %+v, said %d times", got, l.says(logrus.ErrorLevel))
	}
	l.pass(60_000, nil)
	if got := l.health.Live(); got.State != health.Down {
		t.Errorf("after a minute %+v", got)
	}
	l.service.live()
	l.pass(1000, nil)
	if got := l.part(); got.State != health.Degraded || l.dog.Hangs("schedule") {
		t.Errorf("it lives again, and yet %+v", got)
	}
}

// TestWaits: a service that tells why it waits, and tries again now and then, does not hang.
func TestWaits(t *testing.T) {
	t.Parallel()
	l := open(t)
	l.service.set(1, 3000, "level 1: the store refuses")
	for range 10 {
		l.service.live()
		l.pass(10_000, nil)
		if got := l.part(); got.State != health.Degraded {
			t.Fatalf("%+v", got)
		}
	}
	l.pass(90_000, nil)
	if got := l.part(); got.State != health.Down || got.Restart {
		t.Errorf("it does not try any more: %+v", got)
	}
}

// TestNoAnswer: a service whose lock nobody gets is down.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	l := open(t)
	l.pass(2000, nil)
	l.service.mu.Lock()
	l.held = true
	l.pass(7000, nil)
	if got := l.part(); got.State != health.Down || !strings.Contains(got.Reason, "does not answer") {
		t.Errorf("%+v", got)
	}
	l.service.mu.Unlock()
	l.held = false
	l.await("it answers", func() bool { l.pass(500, nil); return l.part().State == health.Up })
}

// TestClose_WhileAServiceHangs: the services behind it are closed although a look has no answer.
func TestClose_WhileAServiceHangs(t *testing.T) {
	t.Parallel()
	l := open(t)
	l.service.mu.Lock()
	l.held = true
	l.pass(7000, nil)
	if err := l.dog.Close(); err != nil {
		t.Error(err)
	}
	l.closed = true
	l.service.mu.Unlock()
}
