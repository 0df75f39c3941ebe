package durable_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wheelmq/wheelmq/durable"
)

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestReplace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "made", "file")
	for _, content := range []string{"old", "new"} {
		if err := durable.Replace(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != content {
			t.Errorf("the file holds %q, want %q", got, content)
		}
	}
	if err := durable.Stage(path, []byte("staged")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "new" {
		t.Errorf("staging changed the file to %q", got)
	}
	if err := durable.Commit(path); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "staged" {
		t.Errorf("after the commit the file holds %q", got)
	}
	if err := durable.Commit(path); err == nil {
		t.Error("a commit of nothing succeeded")
	}
}
