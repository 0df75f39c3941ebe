package readme_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
)

// blocks are the code blocks of a language in docs/testing.md.
func blocks(t *testing.T, language string) (list []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		list = append(list, m[1])
	}
	if len(list) < 5 {
		t.Fatalf("docs/testing.md has only %d blocks of %s", len(list), language)
	}
	return list
}

func onlyOurs(t *testing.T) {
	t.Helper()
	if peer.TargetKind() != peer.Ours {
		t.Skip("only this server can do what the cookbook says")
	}
}

// TestCookbookInGo runs the Go blocks, which are one test file.
func TestCookbookInGo(t *testing.T) {
	t.Parallel()
	onlyOurs(t)
	list := blocks(t, "go")
	file := write(t, "orders_test.go", strings.Join(list, "\n"))
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", file)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if passed := strings.Count(string(out), "--- PASS: Test"); passed < len(list) {
		t.Errorf("%d tests passed of %d blocks\n%s", passed, len(list), out)
	}
}

const testingProgram = `
package testing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/wheelmqtest"
)

func TestSnippet(t *testing.T) {
SNIPPET
}
`

func TestTestingSnippet_TurnsTheClock(t *testing.T) {
	t.Parallel()
	onlyOurs(t)
	file := write(t, "snippet_test.go", strings.Replace(testingProgram, "SNIPPET", snippet(t, "## Testing with WheelMQ", "go"), 1))
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", file)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "cancel what is unpaid\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestTestingCommands runs the README's lines for a shell.
func TestTestingCommands(t *testing.T) {
	t.Parallel()
	onlyOurs(t)
	serve, ask, _ := strings.Cut(snippet(t, "## Testing with WheelMQ", "sh"), "\n")
	s := serveCookbook(t, t.TempDir(), serve)
	runShell(t, s, ask)
}

// TestCookbookInJava holds the Java blocks to the test class that they are said to be from, which
// Maven runs.
func TestCookbookInJava(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../java/wheelmq-junit5/src/test/java/io/github/wheelmq/junit5/CookbookTest.java")
	if err != nil {
		t.Fatal(err)
	}
	class := unindented(string(source))
	for _, block := range blocks(t, "java") {
		if !strings.Contains(class, unindented(block)) {
			t.Errorf("CookbookTest does not have\n%s", block)
		}
	}
}

func unindented(text string) string {
	var s strings.Builder
	for line := range strings.Lines(text) {
		s.WriteString(strings.TrimSpace(line) + "\n")
	}
	return s.String()
}

// curl fails when the test API refuses; /health may tell what is bad.
const curl = `curl() { case "$*" in */test/*) command curl -sS --fail-with-body "$@";; *) command curl -sS "$@";; esac; }
`

// httpAddress is what the shell blocks talk to.
const httpAddress = "localhost:9878"

// TestCookbookInShell runs the shell blocks one after the other. The first starts the server, on
// the default ports; here it gets free ones.
func TestCookbookInShell(t *testing.T) {
	t.Parallel()
	onlyOurs(t)
	list := blocks(t, "sh")
	dir := t.TempDir()
	s := serveCookbook(t, dir, list[0])
	fails(t, s)
	pays(t, s)
	for _, block := range list[1:] {
		if strings.Contains(block, "bin/wheelmq") {
			startsAnother(t, block)
			continue
		}
		runShell(t, s, block)
	}
}

func runShell(t *testing.T, s started, block string) {
	t.Helper()
	script := curl + strings.ReplaceAll(block, httpAddress, s.HTTP)
	out, err := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s%s", err, block, out)
	}
}

// started is what the ready file says.
type started struct{ NameServer, HTTP string }

// serveCookbook runs the command line of a block, on free ports.
func serveCookbook(t *testing.T, dir, block string) (s started) {
	t.Helper()
	bin, err := peer.Binary()
	if err != nil {
		t.Fatal(err)
	}
	args, found := strings.CutPrefix(strings.TrimSpace(block), "bin/wheelmq ")
	if !found {
		t.Fatalf("the first block does not start the server: %s", block)
	}
	ready := filepath.Join(dir, "ready.json")
	cmd := exec.Command(bin, append(strings.Fields(args), "--free-ports", "--ready-file", ready, "--exit-with-stdin")...)
	cmd.Dir = dir
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	suite.Eventually(t, 3*time.Minute, "the server is ready", func() bool {
		content, err := os.ReadFile(ready)
		return err == nil && json.Unmarshal(content, &s) == nil
	})
	return s
}

// startsAnother runs a block that starts a server and waits for it, on free ports.
func startsAnother(t *testing.T, block string) {
	t.Helper()
	bin, err := peer.Binary()
	if err != nil {
		t.Fatal(err)
	}
	script := strings.Replace(block, "bin/wheelmq serve", bin+" serve --free-ports", 1) + "\nkill $!\nwait $!\n"
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s%s", err, block, out)
	}
}

// fails is the program under test that cannot bill any order.
func fails(t *testing.T, s started) {
	t.Helper()
	goclient.Quiet()
	out, err := exec.Command("curl", "-sS", "--fail-with-body", "-X", "PUT", "http://"+s.HTTP+"/test/topics/orders?queues=1").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	goclient.Consumer(t, s.NameServer, "billing", "orders", goclient.Fails)
}

// pays is the program under test that sends payments.
func pays(t *testing.T, s started) {
	t.Helper()
	p := goclient.Producer(t, s.NameServer, producer.WithSendMsgTimeout(time.Second))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for t.Context().Err() == nil {
			// Some meet a fault or a restart, as they are to.
			_, _ = p.SendSync(context.Background(), primitive.NewMessage("payments", []byte("one")))
			time.Sleep(50 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { <-ended })
}
