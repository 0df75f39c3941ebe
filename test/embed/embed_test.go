// Package embed holds package wheelmqtest against the real Go client, as the tests of a program
// use it. A program keeps its own version of the client: wheelmqtest
// brings none along.
package embed

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	client  = "github.com/apache/rocketmq-client-go/v2"
	version = "v2.1.0" // years older than what the suites here use
)

// TestOlderClient builds and tests a module of its own that embeds a server and pins an older
// client.
func TestOlderClient(t *testing.T) {
	t.Parallel()
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/shop")); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		// A workspace of whoever runs this is not the module's.
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("mod", "edit", "-replace", "github.com/wheelmq/wheelmq="+checkout)
	run("test", "-count=1", "./...")
	if got := strings.TrimSpace(run("list", "-m", client)); got != client+" "+version {
		t.Errorf("the module has %q, want %s", got, version)
	}
	imports := run("list", "-deps", "github.com/wheelmq/wheelmq/wheelmqtest")
	if strings.Contains(imports, "rocketmq-client-go") {
		t.Error("wheelmqtest imports a client")
	}
}
