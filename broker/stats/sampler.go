package stats

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Seconds between the samples of a counter, and how many of each are kept, after
// RocketMQ's StatsItem.
const (
	minuteEvery, minuteKept = 10, 7
	hourEvery, hourKept     = 600, 7
	dayEvery, dayKept       = 3600, 25
)

func (s *Service) run() {
	defer s.wg.Done()
	alarm := s.opts.Wire.NewTimer()
	defer alarm.Disarm()
	s.tick()
	next := s.opts.Wire.NowMillis()
	for {
		// From the last instant, not from now: a late tick does not shift the next.
		next = max(next+1000, s.opts.Wire.NowMillis())
		alarm.Arm(next)
		select {
		case <-s.stop:
			return
		case <-alarm.C():
			s.tick()
		}
	}
}

// tick samples the totals, and every tenth time the counters.
func (s *Service) tick() {
	now := s.opts.Wire.NowMillis()
	s.sampleMu.Lock()
	defer s.sampleMu.Unlock()
	s.newDay(now)
	s.put.push(s.broker[puts].sample(now))
	s.get.push(s.found.sample(now))
	s.miss.push(s.missed.sample(now))
	s.transferred.push(s.broker[gots].sample(now))
	all := s.found.sample(now)
	all.sum += s.missed.sum.Load()
	s.total.push(all)
	if s.ticks%minuteEvery == 0 {
		s.eachCounter(func(c *counter) { s.sampleCounter(c, now) })
	}
	s.ticks++
}

// sampleCounter runs every tenth second. s.sampleMu is held.
func (s *Service) sampleCounter(c *counter, now int64) {
	if !c.used() {
		return
	}
	v := c.sample(now)
	c.minute.push(v, minuteKept, minuteEvery*1000)
	if s.ticks%hourEvery == 0 || len(c.hour) == 0 {
		c.hour.push(v, hourKept, hourEvery*1000)
	}
	if s.ticks%dayEvery == 0 || len(c.day) == 0 {
		c.day.push(v, dayKept, dayEvery*1000)
	}
}

func (s *Service) eachCounter(visit func(*counter)) {
	for i := range s.broker {
		visit(&s.broker[i])
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, t := range s.topics {
		t.each(visit)
	}
	for _, g := range s.groups {
		g.each(visit)
	}
}

// newDay notes the totals at midnight. s.sampleMu is held.
func (s *Service) newDay(now int64) {
	day := s.dayOf(now)
	if day == s.day {
		return
	}
	s.day = day
	s.putDay = daily{today: s.broker[putsUser].sum.Load(), yesterday: s.putDay.today}
	s.gotDay = daily{today: s.broker[gotsUser].sum.Load(), yesterday: s.gotDay.today}
}

func (s *Service) dayOf(ms int64) int {
	return time.UnixMilli(ms).YearDay()
}

func (s *Service) register() error {
	if s.opts.Metrics == nil {
		return nil
	}
	count := func(name, help string, value func() int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(value()) })
	}
	for _, c := range []prometheus.Collector{
		collector{s},
		count("wheelmq_messages_put_total", "Messages stored.", s.broker[puts].sum.Load),
		count("wheelmq_put_bytes_total", "Bytes of the messages stored.", s.putBytes.Load),
		count("wheelmq_puts_failed_total", "Puts that the store refused.", s.putFailed.Load),
		count("wheelmq_messages_got_total", "Messages delivered to consumers.", s.broker[gots].sum.Load),
		count("wheelmq_got_bytes_total", "Bytes of the messages delivered.", s.gotBytes.Load),
		count("wheelmq_pulls_found_total", "Pulls that returned messages.", s.found.sum.Load),
		count("wheelmq_pulls_missed_total", "Pulls that found nothing.", s.missed.sum.Load),
	} {
		if err := s.opts.Metrics.Register(c); err != nil {
			return fmt.Errorf("stats: register metrics: %w", err)
		}
	}
	return nil
}
