package config_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/config"
)

func TestEntries(t *testing.T) {
	t.Parallel()
	c := config.Default()
	if _, err := c.Set("brokerName=b"); err != nil {
		t.Fatal(err)
	}
	list := c.Entries()
	if len(list) != len(config.Keys()) {
		t.Errorf("%d entries, want one for each of %d keys", len(list), len(config.Keys()))
	}
	for _, e := range list {
		want, source := e.Default, config.SourceDefault
		if e.Key == "brokerName" {
			want, source = "b", "--set"
		}
		if e.Value != want || e.Source != source || e.Doc == "" {
			t.Errorf("got %+v", e)
		}
	}
}
