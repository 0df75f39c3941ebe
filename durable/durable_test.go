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

// TestReplace_LeavesNothingBeside when it cannot be done.
func TestReplace_LeavesNothingBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// A file cannot take the place of a directory.
	path := filepath.Join(dir, "taken")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := durable.Replace(path, []byte("new")); err == nil {
		t.Fatal("a directory was replaced")
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("%d names are left, want the directory's: %v", len(names), err)
	}
}
