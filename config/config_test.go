package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/config"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "broker.conf")
	content := "# a comment\n! another\nbrokerName = broker-\\\n   b\nlistenPort:20911\nautoCreateTopicEnable false\n" +
		"brokerClusterName=\\u4e2d\nbrokerNmae=x\nscheduleInterval=10\ntransientStorePoolEnable=true\n"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	warnings, err := c.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.BrokerName != "broker-b" || c.ListenPort != 20911 || c.AutoCreateTopicEnable || c.BrokerClusterName != "中" {
		t.Errorf("loaded %+v", c)
	}
	text := strings.Join(warnings, "\n")
	for _, want := range []string{"did you mean brokerName", "scheduleInterval", "transientStorePoolEnable"} {
		if !strings.Contains(text, want) {
			t.Errorf("warnings %q do not mention %q", text, want)
		}
	}
	if !strings.Contains(c.Properties(), "listenPort=20911\n") {
		t.Error("Properties does not show a value that was set")
	}
}

func TestSet_NamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for assignment, want := range map[string]string{
		"listenPort=abc":              "listenPort",
		"autoCreateTopicEnable=maybe": "true or false",
		"listenPort":                  "key=value",
	} {
		if _, err := config.Default().Set(assignment); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Set(%q): %v, want an error with %q", assignment, err, want)
		}
	}
	c := config.Default()
	c.FlushDiskType = "SOMETIMES"
	if err := c.Check(); err == nil {
		t.Error("an unknown flushDiskType was accepted")
	}
}

func FuzzParseProperties(f *testing.F) {
	f.Add("a=b\\\n c\n#x\nk:v\\u0041")
	f.Fuzz(func(_ *testing.T, text string) { _, _ = config.ParseProperties(text) })
}
