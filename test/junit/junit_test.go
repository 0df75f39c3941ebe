// Package junit_test runs the tests of the JUnit 5 extension and of its Spring Boot example as
// their users would, with Maven, against the binary under test. Each of them is a subtest.
package junit_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
)

// project is the folder of the Maven project.
const project = "../../java"

// modules are those that must have tests.
var modules = []string{"wheelmq-junit5", "examples/spring-boot"}

func TestMaven(t *testing.T) {
	peer.RequireJava(t)
	if peer.TargetKind() != peer.Ours {
		t.Skip("the extension starts WheelMQ only")
	}
	bin, err := peer.Binary()
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range modules {
		removeReports(t, module)
	}
	log, err := run(t, bin)
	for _, module := range modules {
		t.Run(module, func(t *testing.T) { judge(t, module) })
	}
	if err != nil {
		t.Fatalf("mvn: %v\n%s", err, log)
	}
}

// run plays all tests; those that fail do not end it, the reports tell them.
func run(t *testing.T, bin string) (log string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "mvn", "-q", "-B", "-ntp", "-f", filepath.Join(project, "pom.xml"),
		"-Dmaven.test.failure.ignore=true", "-Dstyle.color=never", "verify")
	cmd.Env = append(os.Environ(), "WHEELMQ_BIN="+bin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

func removeReports(t *testing.T, module string) {
	t.Helper()
	if err := os.RemoveAll(reportDir(module)); err != nil {
		t.Fatal(err)
	}
}

func reportDir(module string) string {
	return filepath.Join(project, module, "target", "surefire-reports")
}

func judge(t *testing.T, module string) {
	suites, err := readReports(reportDir(module))
	if err != nil {
		t.Fatal(err)
	}
	if len(suites) == 0 {
		t.Fatal("Maven left no report")
	}
	for _, s := range suites {
		t.Run(s.shortName(), func(t *testing.T) {
			for _, c := range s.Cases {
				t.Run(c.Name, func(t *testing.T) { c.judge(t) })
			}
			for line := range strings.Lines(s.printed()) {
				if measured, ok := strings.CutPrefix(line, "MEASURED "); ok {
					t.Log(strings.TrimSpace(measured))
				}
			}
		})
	}
}
