// Package java_test plays the scenarios of the official Java clients, one
// subtest each, against the selected server.
package java_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
)

const mainClass = "com.github.wheelmq.clienttest.Main"

// scenarioEnv is a regular expression of scenario names, to play some of them only.
const scenarioEnv = "WHEELMQ_JAVA_SCENARIO"

// clientJVM are the JVM flags of the process with all clients.
var clientJVM = []string{"-Xms128m", "-Xmx768m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", peer.PatientClient}

// clients are the Java clients that play: the newest, and the last of 4.x. The project has a
// Maven profile for all but the first.
var clients = []string{"5.5.0", "4.9.8"}

// TestShared plays the scenarios that need nothing but a default broker, at the
// same time on one server.
func TestShared(t *testing.T) {
	t.Parallel()
	peer.RequireJava(t)
	target := startTarget(t)
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			// Two at once make the real broker so slow that clients send again.
			if target.Kind == peer.Ours {
				t.Parallel()
			}
			play(t, client, "shared", target)
		})
	}
}

// TestAlone plays those that restart the server.
func TestAlone(t *testing.T) {
	t.Parallel()
	peer.RequireJava(t)
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			play(t, client, "alone", startTarget(t))
		})
	}
}

func startTarget(t *testing.T) *peer.Target {
	t.Helper()
	return peer.StartTarget(t, map[string]string{
		"recallMessageEnable":  "true",
		"enablePropertyFilter": "true",
		// The real broker asks about a transaction after its time-out, at the next interval.
		"transactionTimeOut": "2000", "transactionCheckInterval": "5000",
	})
}

// result is what a scenario reported.
type result struct {
	outcome string // PASS, FAIL or empty: no report
	text    string // milliseconds or the reason
	notes   []string
}

func play(t *testing.T, client, suite string, target *peer.Target) {
	t.Helper()
	project, err := peer.BuildMaven(t.Context(), ".", profile(client)...)
	if err != nil {
		t.Fatal(err)
	}
	names, results := run(t, project.Classpath, suite, target)
	for _, name := range names {
		t.Run(name, func(t *testing.T) { judge(t, target.Kind, exceptionSuite(suite)+"/"+name, results[name]) })
	}
	// The newest client plays every scenario.
	if os.Getenv(scenarioEnv) == "" && client == clients[0] {
		checkExceptions(t, suite, names)
	}
	if len(names) == 0 && os.Getenv(scenarioEnv) == "" {
		t.Fatalf("no scenario of suite %q was played", suite)
	}
}

// profile are the arguments that make Maven compile against a client.
func profile(client string) []string {
	if client == clients[0] {
		return nil
	}
	return []string{"-P" + client}
}

// checkExceptions prints the number of the suite's exceptions.
func checkExceptions(t *testing.T, suite string, names []string) {
	t.Helper()
	t.Logf("%d listed exceptions", peer.CheckExceptions(t, exceptionSuite(suite), names))
}

func exceptionSuite(suite string) string { return "java-" + suite }

// judge turns a report into a test outcome. A scenario that the real broker
// fails on purpose is listed as an exception, and must still fail there: an
// exception that has become untrue is a failure too.
func judge(t *testing.T, kind, exceptionName string, r *result) {
	t.Helper()
	for _, note := range r.notes {
		t.Log(note)
	}
	exception, listed := peer.FindException(t, exceptionName)
	switch {
	case r.outcome == "":
		t.Error("the JVM ended before the scenario did")
	case kind == peer.Real && listed && r.outcome == "PASS":
		t.Errorf("passes against the real broker, but is listed as an exception (%s)", exception.Reason)
	case kind == peer.Real && listed:
		t.Logf("differs as listed: %s", r.text)
	case r.outcome == "FAIL":
		t.Error(strings.ReplaceAll(r.text, " | ", "\n"))
	default:
		t.Logf("%s ms", r.text)
	}
}

// run starts the JVM and serves its reports until it ends.
func run(t *testing.T, classpath, suite string, target *peer.Target) ([]string, map[string]*result) {
	t.Helper()
	home := t.TempDir()
	args := slices.Concat(clientJVM, []string{
		"-Duser.home=" + home, "-Dfile.encoding=UTF-8",
		"-Drocketmq.client.localOffsetStoreDir=" + home + "/offsets",
		// A client of 5.x lives through a restart with heartbeats of the second version.
		"-Dcom.rocketmq.heartbeat.v2=" + strconv.FormatBool(suite == "alone"),
		// The real broker promises less.
		"-Dwheelmq.onceOverRestart=" + strconv.FormatBool(target.Kind == peer.Ours),
		"-cp", classpath, mainClass, suite, target.NameServerAddr, target.BrokerAddr,
	})
	if pattern := os.Getenv(scenarioEnv); pattern != "" {
		args = append(args, pattern)
	}
	cmd := exec.CommandContext(t.Context(), "java", args...)
	cmd.Dir = home
	var stderr strings.Builder
	cmd.Stderr = &stderr
	// A process that the JVM started and left behind has its standard error.
	cmd.WaitDelay = time.Minute
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	names, results, summary := read(t, stdout, stdin, target)
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		t.Errorf("java: %v", err)
	}
	if summary == "" {
		t.Errorf("the JVM ended without a summary (%v)", err)
	}
	if summary == "" || failed(results) {
		t.Logf("end of standard error, of the JVM and of those that it started:\n%s", tail(stderr.String()))
	}
	t.Logf("%s against %s: %s", suite, target.Kind, summary)
	return names, results
}

// failed tells whether a scenario did not pass.
func failed(results map[string]*result) bool {
	for _, r := range results {
		if r.outcome != "PASS" {
			return true
		}
	}
	return false
}

// tail is the end of a text.
func tail(text string) string {
	const most = 8 << 10
	return text[max(0, len(text)-most):]
}

// read parses the report lines: PLAN name, PASS name millis, FAIL name: reason,
// NOTE name: text, CONTROL restart, and the summary.
func read(t *testing.T, stdout io.Reader, stdin io.Writer, target *peer.Target) (names []string, results map[string]*result, summary string) {
	results = make(map[string]*result)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		kind, rest, _ := strings.Cut(lines.Text(), " ")
		name, text, _ := strings.Cut(rest, " ")
		name = strings.TrimSuffix(name, ":")
		r := results[name]
		switch {
		case kind == "PLAN":
			names = append(names, name)
			results[name] = new(result)
		case kind == "CONTROL" && name == "restart":
			target.Restart()
			if _, err := io.WriteString(stdin, "done\n"); err != nil {
				t.Errorf("answer to the JVM: %v", err)
			}
		case strings.HasPrefix(rest, "passed, "):
			summary = lines.Text()
		case r == nil:
			t.Errorf("line not understood: %s", lines.Text())
		case kind == "NOTE":
			r.notes = append(r.notes, text)
		default:
			r.outcome, r.text = kind, text
		}
	}
	if err := lines.Err(); err != nil {
		t.Errorf("read reports: %v", err)
	}
	return names, results, summary
}
