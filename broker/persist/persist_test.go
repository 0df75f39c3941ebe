package persist_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/store/region"
)

type table struct {
	Offsets map[string]int64 `json:"offsets"`
}

func TestLoad_FallsBackToTheFileBefore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config", "x.json")
	var got table
	if err := persist.Load(path, &got); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Load of nothing: %v, want ErrNotExist", err)
	}
	for _, n := range []int64{1, 2} {
		if err := persist.Save(path, table{map[string]int64{"a": n}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := persist.Load(path, &got); err != nil || got.Offsets["a"] != 2 {
		t.Fatalf("Load = %v, %v, want 2", got, err)
	}
	// What a power cut leaves of a file that was not synced.
	if err := os.WriteFile(path, bytes.Repeat([]byte{0}, 40), 0o600); err != nil {
		t.Fatal(err)
	}
	got = table{}
	if err := persist.Load(path, &got); err != nil || got.Offsets["a"] != 1 {
		t.Fatalf("Load of a zeroed file = %v, %v, want the one before: 1", got, err)
	}
}

func TestLoad_ReadsUnquotedKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(path, []byte("{\n\t\"offsets\":{1:5}\n}"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got table
	if err := persist.Load(path, &got); err != nil || got.Offsets["1"] != 5 {
		t.Fatalf("Load = %v, %v", got, err)
	}
}

// A damaged file must never take the place of a good backup, nor lend parts of itself.
func TestLoad_DamageDoesNotReachTheBackup(t *testing.T) {
	t.Parallel()
	for name, damaged := range map[string]string{
		"empty": "", "zeros": "\x00\x00\x00", "torn": `{"offsets":{"a":9,"b":9,`, "of another shape": `{"offsets":{"a":9,"b":"x"}}`, "garbage": "#",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.json")
			for _, n := range []int64{1, 2} {
				if err := persist.Save(path, table{map[string]int64{"a": n}}); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
				t.Fatal(err)
			}
			var got table
			if err := persist.Load(path, &got); err != nil || len(got.Offsets) != 1 || got.Offsets["a"] != 1 {
				t.Fatalf("Load = %v, %v, want what was before", got, err)
			}
			if err := persist.Save(path, table{map[string]int64{"a": 3}}); err != nil {
				t.Fatal(err)
			}
			for file, want := range map[string]int64{path: 3, path + ".bak": 1} {
				var got table
				if err := persist.Load(file, &got); err != nil || got.Offsets["a"] != want {
					t.Errorf("%s holds %v, %v, want %d", filepath.Base(file), got, err, want)
				}
			}
			if left, err := os.ReadFile(path + ".damaged"); err != nil || string(left) != damaged {
				t.Errorf("the damaged file was not put aside: %q, %v", left, err)
			}
		})
	}
}

func TestLoad_NothingReadable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.json")
	for _, file := range []string{path, path + ".bak"} {
		if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := table{map[string]int64{"mine": 1}}
	if err := persist.Load(path, &got); err == nil || errors.Is(err, fs.ErrNotExist) || got.Offsets["mine"] != 1 {
		t.Errorf("Load = %v, %v, want an error and nothing changed", got, err)
	}
}

func TestIn_KeepsWholeFilesInATree(t *testing.T) {
	t.Parallel()
	tree := region.NewMemory()
	var noticed []string
	notice := func(name string, why error) { noticed = append(noticed, fmt.Sprint(name, ": ", why)) }
	dir := persist.In(tree, "config", notice)
	var got table
	if err := dir.Load("x.json", &got); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Load of nothing: %v, want ErrNotExist", err)
	}
	for _, n := range []int64{1, 2} {
		if err := dir.Save("x.json", table{map[string]int64{"a": n}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := persist.In(tree.Crash(), "config", notice).Load("x.json", &got); err != nil || got.Offsets["a"] != 2 {
		t.Fatalf("after a power cut: %v, %v, want 2", got, err)
	}
	if err := tree.WriteFile("config/x.json", []byte("\x00\x00")); err != nil {
		t.Fatal(err)
	}
	if err := dir.Load("x.json", &got); err != nil || got.Offsets["a"] != 1 {
		t.Fatalf("Load of a damaged file = %v, %v, want the one before: 1", got, err)
	}
	if err := dir.Restore("x.json"); err != nil {
		t.Error(err)
	}
	if b, err := tree.ReadFile("config/x.json"); err != nil || !strings.Contains(string(b), "1") {
		t.Errorf("restored %q, %v", b, err)
	}
	if b, err := tree.ReadFile("config/x.json.damaged"); err != nil || string(b) != "\x00\x00" {
		t.Errorf("put aside: %q, %v", b, err)
	}
	if len(noticed) != 1 || !strings.Contains(noticed[0], "x.json: persist: config/x.json") {
		t.Errorf("noticed: %q", noticed)
	}
}

func TestAt_NoticesWhatIsReadInstead(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	noticed := 0
	dir := persist.At(path, func(string, error) { noticed++ })
	var got table
	load := func(want int) {
		t.Helper()
		if err := dir.Load("x.json", &got); err != nil || noticed != want {
			t.Errorf("noticed %d times, want %d: %v", noticed, want, err)
		}
	}
	for _, n := range []int64{1, 2} {
		if err := dir.Save("x.json", table{map[string]int64{"a": n}}); err != nil {
			t.Fatal(err)
		}
	}
	load(0)
	if err := os.Remove(filepath.Join(path, "x.json")); err != nil {
		t.Fatal(err)
	}
	load(1)
	if err := persist.At(path).Load("x.json", &got); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := dir.Restore("x.json"); err != nil {
			t.Fatal(err)
		}
	}
	load(1)
	if err := dir.Load("none.json", &got); err == nil || noticed != 1 {
		t.Errorf("noticed %d times: %v", noticed, err)
	}
}
