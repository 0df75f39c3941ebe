package region_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
)

// TestScratch_ChangesNothing writes to everything and finds the directory as it was.
func TestScratch_ChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a/mapped": "abcdefgh", "a/short": "xy", "b/gone": "1", "small": "old"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s := region.NewScratch(dir)
	open := func(name string, size int) region.Region {
		t.Helper()
		r, err := s.Open(name, size)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	copy(open("a/mapped", 8).Bytes(), "AB")
	copy(open("a/short", 6).Bytes()[4:], "zz")
	copy(open("a/new", 3).Bytes(), "new")
	if err := errors.Join(s.WriteFile("small", []byte("young")), s.Remove("b"), s.WriteFile("b/again", []byte("2"))); err != nil {
		t.Fatal(err)
	}
	if got := string(open("a/mapped", 4).Bytes()) + string(open("a/short", 0).Bytes()) + string(open("a/new", 0).Bytes()); got != "ABcdxy\x00\x00zznew" {
		t.Errorf("read %q", got)
	}
	if b, err := s.ReadFile("small"); string(b) != "young" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := s.ReadFile("b/gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed file: %v", err)
	}
	for at, want := range map[string]string{"a": "mapped new short ", "b": "again ", "": "a b small "} {
		list, err := s.List(at)
		got := ""
		for _, e := range list {
			got += e.Name + " "
		}
		if err != nil || got != want {
			t.Errorf("%q has %s, %v", at, got, err)
		}
	}
	for name, want := range map[string]string{"a/mapped": "abcdefgh", "a/short": "xy", "b/gone": "1", "small": "old", "a/new": "", "b/again": ""} {
		if b, _ := os.ReadFile(filepath.Join(dir, name)); string(b) != want {
			t.Errorf("%s holds %q", name, b)
		}
	}
}
