package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// goingOn is a command that goes on until it is told to end.
type goingOn struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func begin(t *testing.T, args ...string) *goingOn {
	t.Helper()
	bin, err := peer.Binary()
	if err != nil {
		t.Fatal(err)
	}
	g := &goingOn{t: t, cmd: exec.Command(bin, append(args, "--namesrv", suite.Server().NameServerAddr, "--timeout", "60s")...)}
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	g.lines = bufio.NewScanner(out)
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if g.cmd.ProcessState == nil {
			_ = g.cmd.Process.Kill()
			_ = g.cmd.Wait()
		}
	})
	return g
}

func (g *goingOn) line() string {
	g.t.Helper()
	if !g.lines.Scan() {
		g.t.Fatalf("no more lines: %v", g.lines.Err())
	}
	return g.lines.Text()
}

// interrupt ends it as Ctrl-C does, which is no error.
func (g *goingOn) interrupt() {
	g.t.Helper()
	if err := g.cmd.Process.Signal(syscall.SIGINT); err != nil {
		g.t.Fatal(err)
	}
	for g.lines.Scan() {
	}
	if err := g.cmd.Wait(); err != nil {
		g.t.Errorf("interrupted: %v", err)
	}
}

func TestTail_Follow(t *testing.T) {
	t.Parallel()
	name := suite.Name(t, "topic")
	c := dial(t)
	c.MustCreateTopic(t, name, 2)
	c.MustSend(t, wire.Send{Topic: name, Body: []byte("before")})
	c.Settle(t, name, 0, 1)
	suite.Eventually(t, patience, "the topic has a route", func() bool { return run(t, "topics", name).code == 0 })
	g := begin(t, "tail", name, "--follow")
	if line := g.line(); !strings.HasSuffix(line, "  before") {
		t.Errorf("first %q", line)
	}
	for i, body := range []string{"one", "two", "three"} {
		c.MustSend(t, wire.Send{Topic: name, QueueID: i % 2, Body: []byte(body)})
		if line := g.line(); !strings.HasSuffix(line, "  "+body) {
			t.Errorf("got %q, want %s", line, body)
		}
	}
	g.interrupt()
}

func TestLag_Watch(t *testing.T) {
	t.Parallel()
	name, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c := dial(t)
	c.MustCreateTopic(t, name, 1)
	wire.Introduce(t, suite.Server().BrokerAddr, group, name)
	c.MustSend(t, wire.Send{Topic: name, Body: []byte("x")})
	c.Settle(t, name, 0, 1)
	c.Commit(t, group, name, 0, 0)
	g := begin(t, "lag", group, "--watch=50ms", "--json")
	for _, want := range []int64{1, 0} {
		for lag := int64(-1); lag != want; {
			var seen struct{ Groups []struct{ Lag int64 } }
			if err := json.Unmarshal([]byte(g.line()), &seen); err != nil || len(seen.Groups) != 1 {
				t.Fatalf("%+v, %v", seen, err)
			}
			lag = seen.Groups[0].Lag
		}
		c.Commit(t, group, name, 0, 1)
	}
	g.interrupt()
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	name, group := suite.Name(t, "topic"), suite.Name(t, "group")
	dial(t).MustCreateTopic(t, name, 1)
	wire.Introduce(t, suite.Server().BrokerAddr, group, name)
	bin, err := peer.Binary()
	if err != nil {
		t.Fatal(err)
	}
	for want, words := range map[string][]string{name: {"tail", ""}, group: {"lag", ""}, "messageDelayLevel": {"config", "print", ""}} {
		suite.Eventually(t, patience, strings.Join(words, " ")+" is completed", func() bool {
			cmd := exec.Command(bin, append([]string{"__complete"}, words...)...)
			cmd.Env = append(cmd.Environ(), "NAMESRV_ADDR="+suite.Server().NameServerAddr)
			cmd.Stderr = io.Discard
			out, err := cmd.Output()
			return err == nil && strings.Contains("\n"+string(out), "\n"+want+"\n")
		})
	}
}
