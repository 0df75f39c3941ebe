package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/rlog"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// patience is for failures only.
const patience = 3 * time.Minute

// Exit codes of the commands.
const (
	exitNotFound = 3
	exitRefused  = 5
	exitNobody   = 6
	exitOver     = 7
)

func TestMain(m *testing.M) {
	rlog.SetLogLevel("fatal")
	suite.Main(m, map[string]string{"enablePropertyFilter": "true", "recallMessageEnable": "true"})
}

// outcome is what a command has printed, and how it ended.
type outcome struct {
	stdout, stderr string
	code           int
}

// run runs a command against the common server.
func run(t *testing.T, args ...string) outcome {
	t.Helper()
	return runOn(t, suite.Server().NameServerAddr, "", args...)
}

func runOn(t *testing.T, nameServer, stdin string, args ...string) outcome {
	t.Helper()
	bin, err := peer.Binary()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	// A busy machine is no reason to fail.
	cmd := exec.Command(bin, append(args, "--namesrv", nameServer, "--timeout", "60s")...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// must is run of a command that is to succeed and prints JSON, which is read into got.
func must(t *testing.T, got any, args ...string) {
	t.Helper()
	o := run(t, append(args, "--json")...)
	if o.code != 0 {
		t.Fatalf("%v: exit code %d, %s", args, o.code, o.stderr)
	}
	if err := json.Unmarshal([]byte(o.stdout), got); err != nil {
		t.Fatalf("%v: %v: %s", args, err, o.stdout)
	}
}

// fails runs a command that is to fail with an exit code and one line.
func fails(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	o := run(t, args...)
	if o.code != code || !strings.Contains(o.stderr, says) || strings.Count(o.stderr, "\n") != 1 {
		t.Errorf("%v: exit code %d, %q; want %d and one line with %q", args, o.code, o.stderr, code, says)
	}
}

func dial(t *testing.T) *wire.Conn {
	t.Helper()
	return wire.Dial(t, suite.Server().BrokerAddr)
}
