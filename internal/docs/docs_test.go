package docs_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/internal/docs"
)

func TestGeneratedDocuments_AreUpToDate(t *testing.T) {
	t.Parallel()
	tables, err := docs.Tables()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"../../docs/compat.md":        docs.Compat(tables),
		"../../docs/differences.md":   docs.Differences(difference.All()),
		"../../docs/configuration.md": docs.Configuration(config.Keys()),
	} {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is out of date: run make docs", file)
		}
	}
}

func TestEveryRoute_IsComplete(t *testing.T) {
	t.Parallel()
	tables, err := docs.Tables()
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		for _, r := range table.Routes {
			if r.Name == strconv.Itoa(int(r.Code)) || r.Since == "" || r.Handler == nil {
				t.Errorf("%s: code %d lacks a name, a handler or the version it is served since", table.Title, r.Code)
			}
			if _, err := os.Stat("../../" + r.Test); r.Test == "" || err != nil {
				t.Errorf("%s: %s has no test: %q", table.Title, r.Name, r.Test)
			}
		}
	}
}
