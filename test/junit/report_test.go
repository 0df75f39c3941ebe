package junit_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// suite is what Surefire reports of a test class.
type suite struct {
	Name  string     `xml:"name,attr"`
	Cases []testCase `xml:"testcase"`

	output string // what the class printed, when that went into a file
}

type testCase struct {
	Name    string   `xml:"name,attr"`
	Seconds string   `xml:"time,attr"`
	Failure *problem `xml:"failure"`
	Error   *problem `xml:"error"`
	Skipped *problem `xml:"skipped"`
	Out     string   `xml:"system-out"`
	Err     string   `xml:"system-err"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// readReports reads the reports in a directory, none when there is no such directory.
func readReports(dir string) ([]*suite, error) {
	files, err := filepath.Glob(filepath.Join(dir, "TEST-*.xml"))
	if err != nil {
		return nil, fmt.Errorf("junit: %w", err)
	}
	var suites []*suite
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("junit: %w", err)
		}
		s := new(suite)
		if err := xml.Unmarshal(raw, s); err != nil {
			return nil, fmt.Errorf("junit: report %s: %w", file, err)
		}
		output, err := os.ReadFile(filepath.Join(dir, s.Name+"-output.txt"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("junit: %w", err)
		}
		s.output = string(output)
		suites = append(suites, s)
	}
	return suites, nil
}

// shortName is the class without its package.
func (s *suite) shortName() string { return s.Name[strings.LastIndex(s.Name, ".")+1:] }

// printed is the output of all cases.
func (s *suite) printed() string {
	if s.output != "" {
		return s.output
	}
	all := ""
	for _, c := range s.Cases {
		all += c.Out + "\n"
	}
	return all
}

func (c *testCase) judge(t *testing.T) {
	for _, p := range []*problem{c.Failure, c.Error} {
		if p != nil {
			t.Errorf("%s\n%s%s%s", p.Message, p.Text, c.Out, c.Err)
		}
	}
	if c.Skipped != nil {
		t.Skip(c.Skipped.Message)
	}
	t.Logf("%s s", c.Seconds)
}
