package persist_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/wheelmq/wheelmq/broker/persist"
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
