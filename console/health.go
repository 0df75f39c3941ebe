package console

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/wheelmq/wheelmq/health"
)

// Reporter tells the state of an instance.
type Reporter interface {
	// Report is the state of every part.
	Report() health.Report
	// Ready is the state of what clients need.
	Ready() health.Report
	// Live has the parts that only a restart brings back.
	Live() health.Report
}

// probes are the paths that tell a state: 200 unless something is down, then 503.
func (c *Console) probes(mux *http.ServeMux) {
	for path, report := range map[string]func() health.Report{
		"GET /health": c.opts.Health.Report, "GET /ready": c.opts.Health.Ready, "GET /live": c.opts.Health.Live,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			r := report()
			c.tell(w, r.State, r)
		})
	}
	mux.HandleFunc("GET /actuator/health", func(w http.ResponseWriter, _ *http.Request) {
		r := c.opts.Health.Report()
		c.tell(w, r.State, actuator(r))
	})
}

// tell answers with a state in JSON.
func (c *Console) tell(w http.ResponseWriter, state health.State, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if state == health.Down {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	if err := json.NewEncoder(w).Encode(body); err != nil {
		c.opts.Log.WithError(err).Debug("a health reply was not read")
	}
}

// actuatorHealth is a report as tools read it that know Spring Boot's /actuator/health.
type actuatorHealth struct {
	Status     string                       `json:"status"`
	Components map[string]actuatorComponent `json:"components"`
}

type actuatorComponent struct {
	Status  string           `json:"status"`
	Details *actuatorDetails `json:"details,omitempty"`
}

type actuatorDetails struct {
	State  health.State `json:"state"`
	Reason string       `json:"reason"`
}

// actuator knows up and down only: what is degraded serves, and tells so in its details.
func actuator(r health.Report) actuatorHealth {
	h := actuatorHealth{Status: actuatorStatus(r.State), Components: make(map[string]actuatorComponent, len(r.Parts))}
	for part, result := range r.Parts {
		component := actuatorComponent{Status: actuatorStatus(result.State)}
		if result.State != health.Up {
			component.Details = &actuatorDetails{result.State, result.Reason}
		}
		h.Components[part] = component
	}
	return h
}

func actuatorStatus(s health.State) string {
	if s == health.Degraded {
		s = health.Up
	}
	return strings.ToUpper(string(s))
}
