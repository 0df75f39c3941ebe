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
	list := make(map[string]Exception)
	var e Exception
	var block *strings.Builder
	var peer, ours, reason strings.Builder
	finish := func() error {
		if e.Name == "" {
			return nil
		}
		e.Reason, e.Peer, e.Ours = strings.TrimSpace(reason.String()), peer.String(), ours.String()
		if e.Reason == "" || e.Peer == "" {
			return fmt.Errorf("peer: exception %s lacks its reason or the transcript of the real broker", e.Name)
		}
		if _, twice := list[e.Name]; twice {
			return fmt.Errorf("peer: exception %s is listed twice", e.Name)
		}
		list[e.Name] = e
		return nil
	}
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "```") && block != nil:
			block = nil
		case line == "```peer":
			block = &peer
		case line == "```ours":
			block = &ours
		case block != nil:
			block.WriteString(line + "\n")
		case strings.HasPrefix(line, "## "):
			if err := finish(); err != nil {
				return nil, err
			}
			e = Exception{Name: strings.TrimSpace(line[len("## "):])}
			peer.Reset()
			ours.Reset()
			reason.Reset()
		case e.Name != "":
			reason.WriteString(line + "\n")
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("peer: list of exceptions: %w", err)
	}
	if err := finish(); err != nil {
		return nil, err
	}
	return list, nil
}
