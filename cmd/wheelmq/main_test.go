package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/internal/freeport"
)

// asCommand makes the test binary be the command.
const asCommand = "WHEELMQ_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

func commandLine(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	cmd.Dir = t.TempDir()
	t.Cleanup(func() {
		if cmd.Process != nil && cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return cmd
}

// free asks for free ports and no name server; a test adds what it is about.
func free(args ...string) []string {
	return append([]string{"serve", "--bind", "127.0.0.1", "--listen-port", "0", "--namesrv-port", "0", "--http-port", "0"}, args...)
}

// entry is a line of the log in JSON.
type entry struct{ Level, Msg, NameServer, Broker, HTTP, Set string }

// server is a process that has reported ready.
type server struct {
	cmd   *exec.Cmd
	ready entry
	log   []entry // up to the ready line
	lines *bufio.Scanner
}

func startServer(t *testing.T, args ...string) *server {
	t.Helper()
	return startServerWith(t, nil, args...)
}

func startServerWith(t *testing.T, stdin io.Reader, args ...string) *server {
	t.Helper()
	s := &server{cmd: commandLine(t, append(args, "--log-format=json")...)}
	s.cmd.Stdin = stdin
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.lines = bufio.NewScanner(stderr)
	for s.lines.Scan() {
		var e entry
		if err := json.Unmarshal(s.lines.Bytes(), &e); err != nil {
			t.Fatalf("%s: %v", s.lines.Bytes(), err)
		}
		s.log = append(s.log, e)
		if strings.Contains(e.Msg, "boot success") {
			s.ready = e
			return s
		}
	}
	t.Fatalf("ended before it was ready: %+v", s.log)
	return nil
}

// stop sends SIGTERM and returns what was logged after it.
func (s *server) stop(t *testing.T) (rest string) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for s.lines.Scan() {
		rest += s.lines.Text() + "\n"
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("the exit after SIGTERM was not clean: %v", err)
	}
	return rest
}

func freePort(t *testing.T) string {
	t.Helper()
	port, err := freeport.Take(1)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

func TestServe_IsReadyAndStopsCleanly(t *testing.T) {
	t.Parallel()
	dir, port := t.TempDir(), freePort(t)
	s := startServer(t, free("--namesrv-port", port, "--store", dir, "--set", "brokerName=b", "--set", "slaveTimeout=1")...)
	if want := "boot success, set namesrvAddr to 127.0.0.1:" + port; s.ready.Msg != want {
		t.Errorf("ready line %q, want %q", s.ready.Msg, want)
	}
	if first := s.log[0]; !strings.Contains(first.Set, "brokerName=b (--set)") || !strings.Contains(first.Set, "storePathRootDir="+dir+" (--store)") {
		t.Errorf("the first line does not show the settings: %+v", first)
	}
	if second := s.log[1]; second.Level != "warning" || !strings.Contains(second.Msg, "slaveTimeout=1 has no effect") {
		t.Errorf("no warning of a key without effect, but %+v", second)
	}
	client := http.Client{Timeout: await.Patience}
	reply, err := client.Get("http://" + s.ready.HTTP + "/health")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(reply.Body)
	reply.Body.Close()
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Errorf("health %d %s, %v", reply.StatusCode, body, err)
	}
	if rest := s.stop(t); !strings.Contains(rest, "stopping") || !strings.Contains(rest, `"stopped"`) || strings.Contains(rest, `"error"`) {
		t.Errorf("logged after SIGTERM:\n%s", rest)
	}
	if _, err := os.Stat(filepath.Join(dir, "abort")); !os.IsNotExist(err) {
		t.Errorf("the store was not closed: %v", err)
	}
	startServer(t, free("--store", dir)...).stop(t)
}

// Supervisors signal a process and then its group.
func TestServe_StopsCleanlyWhenItIsToldTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startServer(t, free("--store", dir)...)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for s.lines.Scan() && !strings.Contains(s.lines.Text(), "stopping") {
	}
	if rest := s.stop(t); !strings.Contains(rest, `"stopped"`) {
		t.Errorf("logged after the second SIGTERM:\n%s", rest)
	}
	if _, err := os.Stat(filepath.Join(dir, "abort")); !os.IsNotExist(err) {
		t.Errorf("the store was not closed: %v", err)
	}
}

func TestBrokerAndNamesrv_Alone(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	ns := startServer(t, "namesrv", "--bind", "127.0.0.1", "--namesrv-port", port, "--http-port", "0", "--store", t.TempDir())
	if ns.ready.Broker != "" || ns.ready.NameServer != "127.0.0.1:"+port {
		t.Errorf("name server alone: %+v", ns.ready)
	}
	var out, stderr bytes.Buffer
	if code := run([]string{"topics", "delete", "orders", "--yes", "--namesrv", "127.0.0.1:" + port, "--timeout", await.Patience.String()}, &out, &stderr); code != exitNotFound ||
		!strings.Contains(stderr.String(), "no broker is registered") {
		t.Errorf("without a broker a topic is deleted with exit code %d, %q", code, stderr.String())
	}
	b := startServer(t, "broker", "--bind", "127.0.0.1", "--listen-port", "0", "--http-port", "0", "--store", t.TempDir(), "--set", "namesrvAddr=127.0.0.1:"+port)
	if b.ready.NameServer != "" || b.ready.Broker == "" || !strings.HasSuffix(b.ready.Msg, "127.0.0.1:"+port) {
		t.Errorf("broker alone: %+v", b.ready)
	}
	b.stop(t)
	ns.stop(t)
	lost := startServer(t, free("--store", t.TempDir())...)
	if !strings.Contains(lost.ready.Msg, "no name server") {
		t.Errorf("a broker without a name server says %q", lost.ready.Msg)
	}
	lost.stop(t)
}

func TestQuiet_PrintsTheReadyLineOnly(t *testing.T) {
	t.Parallel()
	cmd := commandLine(t, free("-q", "--namesrv-port", freePort(t))...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.Contains(line, "boot success") {
		t.Errorf("printed %q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the exit after SIGINT was not clean: %v", err)
	}
	if stderr.Len() != 0 {
		t.Errorf("logged %s", stderr.String())
	}
}

func TestWhatIsWrong_IsOneLineAndExitCode1(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	locked := t.TempDir()
	holder := startServer(t, free("--store", locked)...)
	t.Cleanup(func() { holder.stop(t) })
	file := filepath.Join(t.TempDir(), "broker.conf")
	if err := os.WriteFile(file, []byte("maxMessageSize=big\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"broker port taken":      {free("--listen-port", port), ":" + port + ": bind: address already in use"},
		"name-server port taken": {free("--namesrv-port", port), ":" + port + ": bind: address already in use"},
		"http port taken":        {free("--http-port", port), ":" + port + ": bind: address already in use"},
		"one port for both":      {free("--listen-port", port, "--namesrv-port", port), "listenPort and namesrvListenPort are both " + port},
		"store locked":           {free("--store", locked), locked + ": the store is in use by another process"},
		"wrong flag":             {free("--listen-port", "x"), `listenPort="x": want an integer from 0 to 65535 in --listen-port`},
		"wrong key":              {free("--set", "maxMessageSize=-1"), `maxMessageSize="-1": want an integer`},
		"wrong file":             {free("-c", file), `maxMessageSize="big": want an integer from 10 to 1073741824 in ` + file},
		"no such file":           {free("-c", file+".none"), "no such file"},
		"wrong delay level":      {free("--set", "messageDelayLevel=1s 5x"), "5x"},
		"wrong log format":       {free("--log-format", "xml"), "want text or json"},
		"unknown flag":           {free("--port", "1"), "unknown flag: --port"},
		"word behind a flag":     {free("--virtual-clock", "2026-01-31T08:00:00Z"), `unexpected "2026-01-31T08:00:00Z": a value that may be left out is written --flag=value`},
		"wrong instant":          {free("--virtual-clock=tomorrow"), `--virtual-clock="tomorrow": want RFC 3339`},
		"no instant":             {free("--virtual-clock="), `--virtual-clock="": want RFC 3339`},
		"token without API":      {free("--test-token", "x"), "--test-token without --test-api"},
		"empty token":            {free("--test-api", "--test-token="), "--test-token is empty"},
		"memory and a directory": {free("--memory", "--store", "x"), "both --memory and --store"},
		"ready file nowhere":     {free("--ready-file", "no/such/directory/ready"), "--ready-file: "},
		"unknown command":        {[]string{"serv"}, `unknown command "serv"`},
		"less than nothing":      {[]string{"tail", "orders", "--last", "-1"}, "--last=-1: want 0 at least"},
		"a time that is past":    {[]string{"send", "orders", "x", "--in", "-5s"}, "--in=-5s: want a time to come"},
		"no such level":          {[]string{"send", "orders", "x", "--level", "-1"}, "--level=-1: want 0 at least"},
		"no such queue":          {[]string{"send", "orders", "x", "--queue", "-5"}, "--queue=-5: want 0 at least"},
		"watched how often":      {[]string{"lag", "--watch", "5s"}, `unexpected "5s": a value that may be left out is written --flag=value`},
		"watched and judged":     {[]string{"lag", "--watch", "--limit", "3"}, "both --watch and --limit"},
		"no command":             {nil, "name a command"},
		"two topics":             {[]string{"doctor", "orders", "--topic", "bills"}, `both "orders" and --topic "bills"`},
		"a word too few":         {[]string{"timers", "fire"}, "received 0: want wheelmq timers fire ID"},
		"no instant, no time":    {[]string{"tail", "orders", "--since", "x"}, "or how long ago, as 10m"},
		"topic without queues":   {[]string{"topics", "create", "orders", "--queues=0"}, "--queues=0: want 1 at least"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := commandLine(t, c.args...)
			if len(c.args) > 0 && c.args[0] == "serve" {
				cmd.Args = append(cmd.Args, "-q")
			}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			_ = cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "wheelmq: ") || !strings.Contains(got, c.want) {
				t.Errorf("stderr %q, want one line with %q", got, c.want)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"version", "--version"} {
		var out, stderr bytes.Buffer
		if code := run([]string{word}, &out, &stderr); code != 0 || out.String() != "wheelmq dev\n" {
			t.Errorf("%s: exit code %d, printed %q %q", word, code, out.String(), stderr.String())
		}
	}
}

// Scripts tell a server that is not there from a message that is not there.
func TestNobodyAnswers_HasItsExitCode(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{{"parked"}, {"timers", "list"}, {"timers", "fire", "d1-0"}} {
		var out, stderr bytes.Buffer
		if code := run(append(words, "--http", "127.0.0.1:1"), &out, &stderr); code != exitNobody || !strings.Contains(stderr.String(), "no server answers") {
			t.Errorf("%v: exit code %d, want %d; printed %q", words, code, exitNobody, stderr.String())
		}
	}
}

// Whatever prints something prints it for programs too.
func TestJSON_IsAnOptionOfEveryCommand(t *testing.T) {
	t.Parallel()
	// These run until they are told to end, or print nothing but a shell's language.
	without := map[string]bool{"serve": true, "broker": true, "namesrv": true, "completion": true, "help": true}
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if without[cmd.Name()] {
			return
		}
		if !cmd.HasSubCommands() && cmd.Flag("json") == nil && cmd.InheritedFlags().Lookup("json") == nil {
			t.Errorf("%s has no --json", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(command())
}
