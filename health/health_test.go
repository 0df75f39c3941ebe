package health_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/health"
)

// TestReports tells what each report is about: everything, what clients need, what only a restart mends.
func TestReports(t *testing.T) {
	t.Parallel()
	results := map[string]health.Result{}
	r := health.NewRegistry()
	for _, part := range []string{"store", "port"} {
		r.RegisterServing(part, func() health.Result { return results[part] })
	}
	r.Register("schedule", func() health.Result { return results["schedule"] })
	up, degraded := health.Result{State: health.Up}, health.Result{State: health.Degraded, Reason: "slow"}
	down, dead := health.Result{State: health.Down, Reason: "full"}, health.Result{State: health.Down, Reason: "broken", Restart: true}
	for _, tc := range []struct {
		name                  string
		store, port, schedule health.Result
		all, ready, live      health.State
	}{
		{"all is well", up, up, up, health.Up, health.Up, health.Up},
		{"clients do not need it", up, up, down, health.Down, health.Up, health.Up},
		{"clients need it", down, up, up, health.Down, health.Down, health.Up},
		{"degraded serves", degraded, up, degraded, health.Degraded, health.Degraded, health.Up},
		{"only a restart helps", up, dead, degraded, health.Down, health.Down, health.Down},
		{"only a restart helps what clients do not need", up, up, dead, health.Down, health.Up, health.Down},
	} {
		results["store"], results["port"], results["schedule"] = tc.store, tc.port, tc.schedule
		if got := r.Report(); got.State != tc.all || len(got.Parts) != 3 {
			t.Errorf("%s: report %+v, want %s of 3 parts", tc.name, got, tc.all)
		}
		if got := r.Ready(); got.State != tc.ready || len(got.Parts) != 2 {
			t.Errorf("%s: ready %+v, want %s of 2 parts", tc.name, got, tc.ready)
		}
		if got := r.Live(); got.State != tc.live {
			t.Errorf("%s: live %+v, want %s", tc.name, got, tc.live)
		}
	}
}
