// Package readme_test runs the snippets of the README as a reader would, against a server of
// its own.
package readme_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
)

// address is what the README's snippets connect to.
const address = "127.0.0.1:9876"

// javaLimit ends a snippet that never greets.
const javaLimit = 5 * time.Minute

// snippet is the first code block of a language below a line of the README.
func snippet(t *testing.T, below, language string) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+below+"\n")
	if !found {
		t.Fatalf("README.md has no line %q", below)
	}
	_, rest, found = strings.Cut(rest, "\n```"+language+"\n")
	code, _, closed := strings.Cut(rest, "\n```\n")
	if !found || !closed {
		t.Fatalf("README.md has no %s block below %q", language, below)
	}
	return code
}

func write(t *testing.T, name, program string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const javaProgram = `
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.*;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;

public class Snippet {
    public static void main(String[] args) throws Exception {
SNIPPET
    }
}
`

func TestJavaSnippet_GreetsItself(t *testing.T) {
	t.Parallel()
	peer.RequireJava(t)
	project, err := peer.BuildMaven(t.Context(), "../java")
	if err != nil {
		t.Fatal(err)
	}
	target := peer.StartTarget(t, nil)
	code := strings.ReplaceAll(snippet(t, "## From Java", "java"), address, target.NameServerAddr)
	file := write(t, "Snippet.java", strings.Replace(javaProgram, "SNIPPET", code, 1))
	// The snippet's client gives a send 3 s, which a machine that stalls may need for the first.
	const tries = 3
	for try := 1; ; try++ {
		greeted, stderr := greets(t, project.Classpath, file)
		if greeted {
			return
		}
		if try == tries || !strings.Contains(stderr, "call timeout") {
			t.Fatalf("the snippet ended without its greeting\n%s", stderr)
		}
		t.Logf("run again: %s", stderr)
	}
}

// greets runs the program in a file until it has got its message.
func greets(t *testing.T, classpath, file string) (greeted bool, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), javaLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "java", "-Xmx256m", "-XX:TieredStopAtLevel=1", peer.PatientClient,
		"-Duser.home="+t.TempDir(), "-cp", classpath, file)
	var said strings.Builder
	cmd.Stderr = &said
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for !greeted && lines.Scan() {
		greeted = lines.Text() == "hello, in five seconds"
	}
	// The clients of the snippet live until somebody ends them.
	_ = cmd.Process.Kill()
	_, _ = io.Copy(io.Discard, stdout)
	_ = cmd.Wait()
	return greeted, said.String()
}

const goProgram = `
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

func main() {
SNIPPET
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("status", result.Status == primitive.SendOK)
}
`

func TestGoSnippet_Sends(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, nil)
	code := strings.ReplaceAll(snippet(t, "## From Go", "go"), address, target.NameServerAddr)
	out := goRun(t, "..", strings.Replace(goProgram, "SNIPPET", code, 1))
	if !strings.Contains(out, "status true\n") {
		t.Errorf("printed %s", out)
	}
}

const embeddingProgram = `
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/wheelmq/wheelmq"
	"github.com/wheelmq/wheelmq/config"
)

func main() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "wheelmq-readme-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
SNIPPET
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("address", mq.NameServerAddr())
	if err := mq.Close(ctx); err != nil {
		log.Fatal(err)
	}
}
`

func TestEmbeddingSnippet_Starts(t *testing.T) {
	t.Parallel()
	if peer.TargetKind() != peer.Ours {
		t.Skip("only this server can be embedded")
	}
	out := goRun(t, "../..", strings.Replace(embeddingProgram, "SNIPPET", snippet(t, "Embedded in a Go program:", "go"), 1))
	if !strings.Contains(out, "address 127.0.0.1:") {
		t.Errorf("printed %s", out)
	}
}

// goRun runs a program with what the module in dir requires.
func goRun(t *testing.T, dir, program string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "run", write(t, "main.go", program))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
