package filter

import (
	"fmt"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/broker/filter/sql"
)

// Counts are how many records got each verdict.
type Counts [sql.Failed + 1]int64

// Verdicts counts what SQL92 filters say of the records that pulls look at. The zero value is ready
// and safe for concurrent use.
type Verdicts struct {
	counts [len(Counts{})]atomic.Int64
}

// Add adds what one pull has counted.
func (v *Verdicts) Add(counts *Counts) {
	for verdict, n := range counts {
		if n > 0 {
			v.counts[verdict].Add(n)
		}
	}
}

// Register adds the counters to metrics, which may be nil.
func (v *Verdicts) Register(metrics prometheus.Registerer) error {
	if metrics == nil {
		return nil
	}
	for verdict, label := range map[sql.Verdict]string{sql.True: "true", sql.False: "false", sql.Unknown: "null", sql.Failed: "failed"} {
		count := &v.counts[verdict]
		err := metrics.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "wheelmq_filter_verdicts_total", ConstLabels: prometheus.Labels{"verdict": label},
			Help: "What SQL92 filters said of the messages that pulls looked at; failed: a property did not read as what it was compared with.",
		}, func() float64 { return float64(count.Load()) }))
		if err != nil {
			return fmt.Errorf("filter: register metrics: %w", err)
		}
	}
	return nil
}
