package wheelmq_test

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq"
)

// The test API serves no other Host than this machine's own.
func TestHTTPAddr_IsOfThisMachine(t *testing.T) {
	i := startTest(t, &wheelmq.TestConfig{Memory: true, API: true}, "bindAddress=0.0.0.0")
	if addr := i.HTTPAddr(); !strings.HasPrefix(addr, "127.0.0.1:") {
		t.Errorf("http address %s", addr)
	}
}
