package peer

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Exception is one intended difference between WheelMQ and the real RocketMQ
// 5.5.0 that a suite meets.
type Exception struct {
	// Name is suite/case, for example "mqadmin/topicList".
	Name string
	// Reason says why ours differs.
	Reason string
	// Peer is the transcript: what the real broker answers.
	Peer string
	// Ours is what WheelMQ answers instead; empty when the suite states it in code.
	Ours string
}

var exceptions = sync.OnceValues(func() (map[string]Exception, error) {
	f, err := os.Open(filepath.Join(filepath.Dir(sourceDir()), "exceptions.md"))
	if err != nil {
		return nil, fmt.Errorf("peer: list of exceptions: %w", err)
	}
	defer f.Close()
	return parseExceptions(bufio.NewScanner(f))
})

// FindException looks a case up in test/exceptions.md.
func FindException(tb testing.TB, name string) (Exception, bool) {
	tb.Helper()
	e, ok := Exceptions(tb)[name]
	return e, ok
}

// Exceptions is the list in test/exceptions.md by name.
func Exceptions(tb testing.TB) map[string]Exception {
	tb.Helper()
	list, err := exceptions()
	if err != nil {
		tb.Fatal(err)
	}
	return list
}

// CheckExceptions fails the test when the list names a case of the suite that
// does not exist, and returns how many cases of the suite are listed.
func CheckExceptions(tb testing.TB, suite string, cases []string) int {
	tb.Helper()
	n := 0
	for name := range Exceptions(tb) {
		of, c, _ := strings.Cut(name, "/")
		if of != suite {
			continue
		}
		n++
		if !slices.Contains(cases, c) {
			tb.Errorf("exceptions.md lists %s, which is not a case of the suite", name)
		}
	}
	return n
}

// parseExceptions reads one entry per "## suite/case" heading: the reason is
// the text below it, the transcripts are code blocks marked "peer" and "ours".
func parseExceptions(lines *bufio.Scanner) (map[string]Exception, error) {
	p := exceptionParser{list: make(map[string]Exception)}
	for lines.Scan() {
		if err := p.line(lines.Text()); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("peer: list of exceptions: %w", err)
	}
	return p.list, p.finish()
}

// exceptionParser is the entry that is being read, and those before it.
type exceptionParser struct {
	list               map[string]Exception
	name               string // "" before the first heading
	peer, ours, reason strings.Builder
	block              *strings.Builder // the code block that lines go to, or nil
}

func (p *exceptionParser) line(text string) error {
	switch {
	case strings.HasPrefix(text, "```") && p.block != nil:
		p.block = nil
	case text == "```peer":
		p.block = &p.peer
	case text == "```ours":
		p.block = &p.ours
	case p.block != nil:
		p.block.WriteString(text + "\n")
	case strings.HasPrefix(text, "## "):
		if err := p.finish(); err != nil {
			return err
		}
		p.name = strings.TrimSpace(text[len("## "):])
	case p.name != "":
		p.reason.WriteString(text + "\n")
	}
	return nil
}

// finish takes the entry into the list.
func (p *exceptionParser) finish() error {
	if p.name == "" {
		return nil
	}
	e := Exception{Name: p.name, Reason: strings.TrimSpace(p.reason.String()), Peer: p.peer.String(), Ours: p.ours.String()}
	if e.Reason == "" || e.Peer == "" {
		return fmt.Errorf("peer: exception %s lacks its reason or the transcript of the real broker", e.Name)
	}
	if _, twice := p.list[e.Name]; twice {
		return fmt.Errorf("peer: exception %s is listed twice", e.Name)
	}
	p.list[e.Name] = e
	p.peer.Reset()
	p.ours.Reset()
	p.reason.Reset()
	return nil
}
