package peer

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// targetEnv selects the server that StartTarget starts.
const targetEnv = "WHEELMQ_TARGET"

// The two values of WHEELMQ_TARGET.
const (
	Ours = "ours"
	Real = "peer"
)

// TargetKind says which server the suites run against: Ours or Real.
func TargetKind() string {
	if kind := os.Getenv(targetEnv); kind != "" {
		return kind
	}
	return Ours
}

// Target is a server under test. Its addresses stay the same over restarts.
type Target struct {
	// Kind is Ours or Real.
	Kind string
	// NameServerAddr and BrokerAddr are host:port.
	NameServerAddr, BrokerAddr string
	// HTTPAddr is where /health and /metrics are; empty for the real RocketMQ.
	HTTPAddr string
	// StoreDir is the root of the store (commitlog, consumequeue, config).
	StoreDir string

	tb     testing.TB
	server server
	up     bool
}

// server is what a Target needs of either implementation.
type server interface {
	launch(ctx context.Context) error
	halt() error
	kill()
}

// StartTarget starts the selected server with the given broker.conf keys on
// free ports and a fresh store, and stops it when the test ends. Both servers
// are named broker-a in cluster DefaultCluster unless conf says otherwise.
func StartTarget(tb testing.TB, conf map[string]string) *Target {
	tb.Helper()
	return StartKind(tb, TargetKind(), conf)
}

// StartKind is StartTarget for a server named by the caller: Ours or Real.
func StartKind(tb testing.TB, kind string, conf map[string]string) *Target {
	tb.Helper()
	return start(tb, kind, HomeDir(tb), conf, nil)
}

// StartForBenchmark is StartKind with the JVM flags of ProductionBrokerJVM for the real one.
func StartForBenchmark(tb testing.TB, kind string, conf map[string]string) *Target {
	tb.Helper()
	return start(tb, kind, HomeDir(tb), conf, ProductionBrokerJVM)
}

// StartIn is StartKind on a home directory of the caller's: a store in its directory "store" is
// opened, whichever server wrote it.
func StartIn(tb testing.TB, kind, dir string, conf map[string]string) *Target {
	tb.Helper()
	return start(tb, kind, dir, conf, nil)
}

// StartVirtual starts WheelMQ on a home directory of the caller's with its test API and a clock of
// messages that moves only when told.
func StartVirtual(tb testing.TB, dir string, conf map[string]string) *Target {
	tb.Helper()
	t := &Target{Kind: Ours, tb: tb}
	tb.Cleanup(t.close)
	t.launchFirst(func() error {
		return t.useOurs(dir, conf, "--test-api", "--virtual-clock")
	})
	return t
}

// Refuses starts a server of a kind on a home directory, waits until it has ended by itself, and
// returns what it printed. A server that serves fails the test.
func Refuses(tb testing.TB, kind, dir string, conf map[string]string) string {
	tb.Helper()
	t := &Target{Kind: kind, tb: tb}
	var err error
	if kind == Ours {
		err = t.useOurs(dir, conf)
	} else {
		RequireJava(tb)
		err = t.useReal(dir, conf, nil)
	}
	if err != nil {
		tb.Fatal(err)
	}
	if err = t.server.launch(context.WithoutCancel(tb.Context())); err == nil {
		tb.Error("the server serves, want it to refuse")
	}
	t.server.kill()
	if err == nil {
		return ""
	}
	return err.Error()
}

// HomeDir makes a directory for the servers of a test that goes after they have been stopped.
func HomeDir(tb testing.TB) string {
	tb.Helper()
	// Not tb.TempDir: the store of a failed test would go before the server has
	// been stopped.
	dir, err := os.MkdirTemp("", "wheelmq-target-")
	if err != nil {
		tb.Fatalf("peer: store directory: %v", err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Errorf("peer: remove store: %v", err)
		}
	})
	return dir
}

func start(tb testing.TB, kind, dir string, conf map[string]string, jvm []string) *Target {
	tb.Helper()
	t := &Target{Kind: kind, tb: tb}
	tb.Cleanup(t.close)
	t.launchFirst(func() error {
		switch t.Kind {
		case Ours:
			return t.useOurs(dir, conf)
		case Real:
			RequireJava(tb)
			return t.useReal(dir, conf, jvm)
		default:
			return fmt.Errorf("%s=%q: want %q or %q", targetEnv, t.Kind, Ours, Real)
		}
	})
	return t
}

// useOurs plans a WheelMQ on free ports, with flags beside those of every start.
func (t *Target) useOurs(dir string, conf map[string]string, flags ...string) error {
	w, err := newWheelMQ(dir, conf)
	if err != nil {
		return err
	}
	w.flags = flags
	t.server = w
	t.NameServerAddr, t.BrokerAddr = Address(w.namesrvPort), Address(w.listenPort)
	t.HTTPAddr = Address(w.health)
	t.StoreDir = dir + "/store"
	return nil
}

// busyMachine keeps the real broker from refusing requests (code 2) because a
// machine that runs several test servers let them wait: by default 200 ms in
// the send queue are too long.
var busyMachine = map[string]string{
	"waitTimeMillsInSendQueue":        "20000",
	"waitTimeMillsInPullQueue":        "20000",
	"waitTimeMillsInAdminBrokerQueue": "20000",
	"osPageCacheBusyTimeOutMills":     "20000",
}

func (t *Target) useReal(dir string, conf map[string]string, jvm []string) error {
	cp, err := Classpath(t.tb.Context())
	if err != nil {
		return err
	}
	keys := maps.Clone(busyMachine)
	maps.Copy(keys, conf)
	p := &Peer{opts: Options{Broker: keys, BrokerJVM: jvm}, classpath: cp, Dir: dir}
	if err := p.prepare(); err != nil {
		return err
	}
	t.server = realServer{p}
	t.NameServerAddr, t.BrokerAddr = p.NameServerAddr, p.BrokerAddr
	t.StoreDir = dir + "/store"
	return nil
}

// realServer gives a Peer the names that Target uses.
type realServer struct{ *Peer }

func (r realServer) kill() { r.Kill() }

// portTries bounds the starts that found a port in use.
const portTries = 20

// launchFirst starts a server as planned, and as planned anew when something that is no test has
// taken one of its ports.
func (t *Target) launchFirst(plan func() error) {
	t.tb.Helper()
	for range portTries {
		if err := plan(); err != nil {
			t.tb.Fatal(err)
		}
		err := t.server.launch(context.WithoutCancel(t.tb.Context()))
		if err == nil {
			t.up = true
			return
		}
		t.server.kill()
		if !portInUse(err) {
			t.tb.Fatal(err)
		}
		t.tb.Logf("planned anew: %v", err)
	}
	t.tb.Fatalf("peer: no free ports in %d starts", portTries)
}

// Launch starts a server that was stopped or killed, on its old store and ports.
func (t *Target) Launch() {
	t.tb.Helper()
	err := t.server.launch(context.WithoutCancel(t.tb.Context()))
	for try := 1; portInUse(err) && try < portTries; try++ {
		t.server.kill()
		time.Sleep(time.Second)
		err = t.server.launch(context.WithoutCancel(t.tb.Context()))
	}
	if err != nil {
		t.server.kill()
		t.tb.Fatal(err)
	}
	t.up = true
}

// Stop ends the server with SIGTERM and waits until it is gone.
func (t *Target) Stop() {
	t.tb.Helper()
	t.up = false
	if err := t.server.halt(); err != nil {
		t.tb.Fatal(err)
	}
}

// Restart stops the server with SIGTERM and starts it on the same store and ports.
func (t *Target) Restart() {
	t.tb.Helper()
	t.Stop()
	t.Launch()
}

// Kill ends the server at once (SIGKILL). Launch starts it again. A WheelMQ that has ended by
// itself fails the test.
func (t *Target) Kill() {
	t.tb.Helper()
	t.up = false
	if w, ours := t.server.(*wheelmq); ours {
		if err := w.proc.ended(); err != nil {
			t.tb.Error(err)
		}
	}
	t.server.kill()
}

// KillWhileStarting starts WheelMQ on its old store and kills it after a while, whether it is
// up by then or not. The real RocketMQ starts so slowly that it means nothing there.
func (t *Target) KillWhileStarting(after time.Duration) {
	t.tb.Helper()
	w, ours := t.server.(*wheelmq)
	if !ours {
		t.tb.Fatal("peer: only WheelMQ is killed while it starts")
	}
	if err := w.start(); err != nil {
		t.tb.Fatal(err)
	}
	time.Sleep(after)
	w.kill()
}

// PIDs are the processes of the server: one for WheelMQ, broker and name server
// for the real one.
func (t *Target) PIDs() []int {
	switch s := t.server.(type) {
	case *wheelmq:
		return []int{s.proc.pid()}
	case realServer:
		return []int{s.BrokerPID, s.NamesrvPID}
	}
	return nil
}

// Log is the end of what the server printed since its last start.
func (t *Target) Log() string {
	switch s := t.server.(type) {
	case *wheelmq:
		if s.proc != nil {
			return s.proc.log.tail()
		}
	case realServer:
		if s.broker != nil {
			return withoutLogging(s.broker.log.tail())
		}
	}
	return ""
}

// withoutLogging drops what the logging library of the real broker prints about itself.
func withoutLogging(text string) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		return strings.Contains(line, "|-INFO in ")
	}), "")
}

func (t *Target) close() {
	if !t.up {
		return
	}
	t.up = false
	if t.tb.Failed() {
		t.tb.Logf("end of the server's output:\n%s", t.Log())
	}
	// A clean stop of the real broker takes up to 18 s and proves nothing about us.
	if t.Kind == Real {
		t.server.kill()
		return
	}
	if err := t.server.halt(); err != nil {
		t.tb.Error(err)
	}
}
