package console_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/wheelmq/wheelmq/health"
)

func TestProbes(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.health.RegisterServing("store", func() health.Result { return health.Result{State: health.Up} })
	f.health.Register("schedule", func() health.Result { return health.Result{State: health.Down, Reason: "it hangs", Restart: true} })
	for path, want := range map[string]int{"/health": 503, "/actuator/health": 503, "/ready": 200, "/live": 503} {
		if status, body := f.get(t, path); status != want {
			t.Errorf("%s is answered with %d, want %d: %s", path, status, want, body)
		}
	}
}

// TestActuator is what a tool for Spring Boot reads.
func TestActuator(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.health.Register("index", func() health.Result { return health.Result{State: health.Degraded, Reason: "it is built"} })
	f.health.Register("store", func() health.Result { return health.Result{State: health.Up} })
	var got struct {
		Status     string
		Components map[string]struct {
			Status  string
			Details struct{ State, Reason string }
		}
	}
	status, body := f.get(t, "/actuator/health")
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %v: %s", status, err, body)
	}
	index := got.Components["index"]
	if got.Status != "UP" || index.Status != "UP" || index.Details.Reason != "it is built" || index.Details.State != "degraded" {
		t.Errorf("%+v", got)
	}
	if store := got.Components["store"]; store.Status != "UP" || store.Details.Reason != "" {
		t.Errorf("store %+v", store)
	}
}
