package stats

import "sync/atomic"

// counter is a quantity: its sum, how many times something was added, and the samples
// its averages are made of.
type counter struct {
	sum, times        atomic.Int64
	minute, hour, day series // touched by the sampler, guarded by Service.sampleMu
}

func (c *counter) add(n int64) {
	c.sum.Add(n)
	c.times.Add(1)
}

func (c *counter) sample(now int64) sample {
	return sample{at: now, sum: c.sum.Load(), times: c.times.Load()}
}

// Rate is a counter over one period, as VIEW_BROKER_STATS_DATA (315) answers it.
type Rate struct {
	Sum   int64   `json:"sum"`
	TPS   float64 `json:"tps"`
	AvgPT float64 `json:"avgpt"` // mean of one addition
}

// View is a counter over the last minute, hour and day.
type View struct {
	Minute Rate `json:"statsMinute"`
	Hour   Rate `json:"statsHour"`
	Day    Rate `json:"statsDay"`
}

// used tells whether anything was ever added: what was not does not exist for tools.
func (c *counter) used() bool { return c.times.Load() > 0 }

// view is the counter at an instant. The minute is that of the samples, which are ten seconds apart;
// hour and day end now. Service.sampleMu is held.
func (c *counter) view(now int64) View {
	v := c.sample(now)
	return View{Minute: c.minute.rate(), Hour: c.hour.until(v, hourKept, hourEvery*1000), Day: c.day.until(v, dayKept, dayEvery*1000)}
}

type sample struct {
	at         int64 // ms
	sum, times int64
}

// series is the newest samples of a counter, oldest first.
type series []sample

// push adds a sample and keeps at most limit. Before the first one nothing was counted, for a whole
// period, ms: what is added before the first sample counts, as in RocketMQ.
func (s *series) push(v sample, limit int, period int64) {
	if len(*s) == 0 {
		*s = append(*s, sample{at: v.at - period})
	}
	if len(*s) == limit {
		copy(*s, (*s)[1:])
		(*s)[limit-1] = v
		return
	}
	*s = append(*s, v)
}

// rate is the difference between the newest and the oldest sample.
func (s series) rate() Rate {
	if len(s) < 2 {
		return Rate{}
	}
	return between(s[0], s[len(s)-1])
}

// until is the difference between v and the oldest sample, of a full series the next one: the time
// from the newest sample to v is not of the period, too. Without a sample it is what was counted
// since the start: as in push, nothing was for a whole period, ms, before.
func (s series) until(v sample, limit int, period int64) Rate {
	switch {
	case len(s) == 0:
		return between(sample{at: v.at - period}, v)
	case len(s) == limit:
		return between(s[1], v)
	}
	return between(s[0], v)
}

func between(from, to sample) Rate {
	r := Rate{Sum: to.sum - from.sum}
	if ms := to.at - from.at; ms > 0 {
		r.TPS = float64(r.Sum) * 1000 / float64(ms)
	}
	if times := to.times - from.times; times > 0 {
		r.AvgPT = float64(r.Sum) / float64(times)
	}
	return r
}

// ring is one total's samples of every second, for averages over 10 s, 1 min and 10 min.
type ring struct {
	samples []sample
	next    int // where the next one goes once the ring is full
}

const ringSize = 601

func (r *ring) push(v sample) {
	if len(r.samples) < ringSize {
		r.samples = append(r.samples, v)
		return
	}
	r.samples[r.next] = v
	r.next = (r.next + 1) % ringSize
}

// tps is the average over the last seconds, or over what there is.
func (r *ring) tps(seconds int) float64 {
	n := len(r.samples)
	if n < 2 {
		return 0
	}
	newest := r.samples[(r.next+n-1)%n]
	oldest := r.samples[(r.next+n-1-min(seconds, n-1))%n]
	return between(oldest, newest).TPS
}
