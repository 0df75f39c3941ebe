// Package metrics is how a part shows its figures to Prometheus: figures that are kept anyhow are read
// at each scrape, and registered together.
package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// number is what a figure may be.
type number interface{ ~int | ~int64 | ~float64 }

// Gauge is a figure that goes up and down.
func Gauge[N number](name, help string, read func() N) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
}

// Counter is a figure that only grows.
func Counter[N number](name, help string, read func() N) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
}

// Flag is a gauge of 1 and 0.
func Flag(name, help string, set func() bool) prometheus.Collector {
	return Gauge(name, help, func() int {
		if set() {
			return 1
		}
		return 0
	})
}

// Register adds what a part shows to a registry; nil takes nothing. An error, as of a name that is taken,
// names the part.
func Register(registry prometheus.Registerer, part string, collectors ...prometheus.Collector) error {
	if registry == nil {
		return nil
	}
	for _, c := range collectors {
		if err := registry.Register(c); err != nil {
			return fmt.Errorf("%s: register metrics: %w", part, err)
		}
	}
	return nil
}
