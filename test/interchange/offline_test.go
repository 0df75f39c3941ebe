package interchange

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strconv"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
)

// command runs WheelMQ's binary to its end.
func command(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	bin, err := peer.Binary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), bin, args...).Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return string(out), string(exit.Stderr), exit.ExitCode()
	case err != nil:
		t.Fatal(err)
	}
	return string(out), "", 0
}

// wantSound fails the test when wheelmq store check finds damage in a store that a server left.
func wantSound(t *testing.T, store string) {
	t.Helper()
	out, errs, code := command(t, "store", "check", store)
	if code != 0 {
		t.Errorf("store check: exit code %d\n%s%s", code, out, errs)
	}
}

// brokerConf is the configuration of these tests with the file sizes that wheelmq store inspect
// finds in a store: what an operator would put into the other server's broker.conf.
func brokerConf(t *testing.T, store string) map[string]string {
	t.Helper()
	out, errs, code := command(t, "store", "inspect", "-o", "json", store)
	var report struct{ BrokerConf map[string]int64 }
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 {
		t.Fatalf("store inspect: exit code %d, %v\n%s%s", code, err, out, errs)
	}
	conf := configuration()
	for key, made := range sizes {
		found := strconv.FormatInt(report.BrokerConf[key], 10)
		if found != made {
			t.Errorf("store inspect: %s=%s, the store was made with %s", key, found, made)
		}
		conf[key] = found
	}
	return conf
}
