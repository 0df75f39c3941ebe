package sqlfilter

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
)

const mainClass = "com.github.wheelmq.sqlfilter.Verdicts"

// question is an expression and the properties of some messages, as records store them.
type question struct {
	expression string
	messages   []string
}

// refused is the answer to an expression that is none.
const refused = "R"

// official is the official filter in a process of its own.
type official struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// start runs the official filter until the test's end.
func start(t *testing.T) *official {
	t.Helper()
	peer.RequireJava(t)
	project, err := peer.BuildMaven(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	// It ends with its input, which is closed after the test's context.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "java", "-Xshare:auto", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8",
		"-Duser.home="+t.TempDir(), "-cp", project.Classpath, mainClass)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil && !t.Failed() {
			t.Errorf("java: %v", err)
		}
	})
	return &official{in: in, out: bufio.NewReaderSize(out, 1<<16)}
}

// ask returns a letter for each message of each question, or refused.
func (o *official) ask(t *testing.T, questions []question) []string {
	t.Helper()
	failed := make(chan error, 1)
	go func() { failed <- o.send(questions) }()
	answers := make([]string, len(questions))
	for i, q := range questions {
		var answer strings.Builder
		for range max(1, len(q.messages)) {
			letter, err := o.out.ReadByte()
			if err != nil {
				t.Fatalf("the official filter ends at %q: %v", q.expression, err)
			}
			answer.WriteByte(letter)
			if answer.String() == refused {
				break
			}
		}
		answers[i] = answer.String()
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	return answers
}

func (o *official) send(questions []question) error {
	w := bufio.NewWriterSize(o.in, 1<<16)
	number := func(n int) { _ = binary.Write(w, binary.BigEndian, uint32(n)) }
	text := func(s string) {
		number(len(s))
		_, _ = w.WriteString(s)
	}
	for _, q := range questions {
		text(q.expression)
		number(len(q.messages))
		for _, properties := range q.messages {
			text(properties)
		}
	}
	return w.Flush()
}
