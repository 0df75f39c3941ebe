package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer/rocketmq"
)

// TestStore_Export copies a store, leaves it as it is, and copies over nothing.
func TestStore_Export(t *testing.T) {
	t.Parallel()
	dir, to := smallStore(t), filepath.Join(t.TempDir(), "made", "copy")
	var out, errs strings.Builder
	if code := run([]string{"store", "export", "--to", to, dir}, &out, &errs); code != 0 || errs.String() != "" {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	for _, want := range []string{"0 messages wait", "  mappedFileSizeCommitLog=131072\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	for _, d := range []string{dir, to} {
		if code := run([]string{"store", "check", d}, io.Discard, io.Discard); code != 0 {
			t.Errorf("%s: exit code %d", d, code)
		}
	}
	if c, ok, err := rocketmq.ReadCheckpoint(region.OS{Root: to}); !ok || err != nil || !c.Ours() {
		t.Errorf("the copy's timers begin at %+v, %t, %v", c, ok, err)
	}
	if _, ok, err := rocketmq.ReadCheckpoint(region.OS{Root: dir}); ok || err != nil {
		t.Errorf("the store has changed: %t, %v", ok, err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"over files":    {[]string{"--to", to, dir}, "it holds files already"},
		"into itself":   {[]string{"--to", filepath.Join(dir, "x"), dir}, "inside of the store"},
		"to nowhere":    {[]string{dir}, `"to" not set`},
		"not a store":   {[]string{"--to", filepath.Join(to, "x"), t.TempDir()}, "not a store"},
		"after a crash": {[]string{"--to", t.TempDir(), crashed(t)}, "did not end cleanly"},
	} {
		var errs strings.Builder
		if code := run(append([]string{"store", "export"}, c.args...), io.Discard, &errs); code == 0 || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%s: exit code %d, %s", name, code, &errs)
		}
	}
}

// crashed makes a store whose server was killed.
func crashed(t *testing.T) string {
	t.Helper()
	dir := smallStore(t)
	if err := os.WriteFile(filepath.Join(dir, "abort"), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
