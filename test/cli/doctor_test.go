package cli

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/suite"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	if o := run(t, "doctor"); o.code != 0 || !strings.Contains(o.stdout, "everything answers") {
		t.Errorf("%+v", o)
	}
	if o := run(t, "doctor", "SELF_TEST_TOPIC"); o.code != 0 || !strings.Contains(o.stdout, "clients can use SELF_TEST_TOPIC") {
		t.Errorf("%+v", o)
	}
	fails(t, exitNotFound, "does not exist", "doctor", suite.Name(t, "none"))
	fails(t, exitNotFound, "does not exist", "doctor", "--topic", suite.Name(t, "none"))
	if o := runOn(t, suite.Server().BrokerAddr, "", "doctor"); o.code != exitNobody || !strings.Contains(o.stderr, "is the port of a broker") {
		t.Errorf("at the broker's port: %+v", o)
	}
	if o := runOn(t, "127.0.0.1:1", "", "doctor"); o.code != exitNobody || !strings.Contains(o.stderr, "nothing listens at 127.0.0.1:1") {
		t.Errorf("at a closed port: %+v", o)
	}
}
