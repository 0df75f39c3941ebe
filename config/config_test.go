package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/config"
)

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "broker.conf")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	t.Parallel()
	path := write(t, "# a comment\n! another\nbrokerName = broker-\\\n   b\nlistenPort:20911 \r\nautoCreateTopicEnable false\n"+
		"brokerClusterName=\\u4e2d\\uD83D\\ude00\n")
	c := config.Default()
	warnings, err := c.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 0 {
		t.Errorf("warnings %q", warnings)
	}
	if c.BrokerName != "broker-b" || c.ListenPort != 20911 || c.AutoCreateTopicEnable || c.BrokerClusterName != "中😀" {
		t.Errorf("loaded %+v", c)
	}
	if got := c.Source("listenPort"); got != path {
		t.Errorf("listenPort was set by %q, want %q", got, path)
	}
	if got := c.Source("httpPort"); got != "default" {
		t.Errorf("httpPort was set by %q, want default", got)
	}
}

func TestLoad_ByteOrderMark(t *testing.T) {
	t.Parallel()
	c := config.Default()
	warnings, err := c.Load(write(t, "\ufeffbrokerName=b\r\n"))
	if err != nil || len(warnings) != 0 || c.BrokerName != "b" {
		t.Errorf("loaded %q, warnings %q, %v", c.BrokerName, warnings, err)
	}
}

func TestLoad_NamesFileAndKey(t *testing.T) {
	t.Parallel()
	path := write(t, "listenPort=many\n")
	_, err := config.Default().Load(path)
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), `listenPort="many"`) {
		t.Errorf("error %v", err)
	}
	if _, err := config.Default().Load(path + ".none"); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestExampleFile_ChangesNothing(t *testing.T) {
	t.Parallel()
	c := config.Default()
	warnings, err := c.Load("../broker.conf")
	if err != nil || len(warnings) != 0 {
		t.Fatalf("warnings %q, error %v", warnings, err)
	}
	if got, want := c.Properties(), config.Default().Properties(); got != want {
		t.Errorf("broker.conf shows other values than the defaults:\n%s", got)
	}
}

func TestSet_RefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	for assignment, want := range map[string]string{
		"listenPort":                  "key=value",
		"listenPort=abc":              `listenPort="abc": want an integer from 0 to 65535`,
		"listenPort=70000":            `listenPort="70000": want an integer from 0 to 65535`,
		"brokerId=-1":                 `brokerId="-1": want an integer of at least 0`,
		"maxMessageSize=":             `maxMessageSize="": want an integer`,
		"flushIntervalCommitLog=0":    `want an integer of at least 1`,
		"autoCreateTopicEnable=maybe": `autoCreateTopicEnable="maybe": want true or false`,
		"flushDiskType=SOMETIMES":     "want ASYNC_FLUSH or SYNC_FLUSH",
		"profile=4":                   "want 5.5.0 or nothing",
	} {
		c := config.Default()
		if _, err := c.Set(assignment); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Set(%q): %v, want an error with %q", assignment, err, want)
		}
		if len(c.Changed()) != 0 {
			t.Errorf("Set(%q) refused and changed %q", assignment, c.Changed())
		}
	}
}

func TestSet_WarnsOfKeysWithoutEffect(t *testing.T) {
	t.Parallel()
	for assignment, want := range map[string]string{
		"listenPort=1":                  "",
		"autoCreateTopicEnable=TRUE":    "",
		"brokerNmae=x":                  "did you mean brokerName?",
		"listenport=1":                  "did you mean listenPort?",
		"transientStorePoolEnabled=1":   "did you mean transientStorePoolEnable?",
		"transientStorePoolEnable=true": "RocketMQ knows this key",
		"scheduleInterval=10":           "millisecond",
		"somethingElse=1":               "unknown key",
	} {
		warning, err := config.Default().Set(assignment)
		if err != nil {
			t.Errorf("Set(%q): %v", assignment, err)
		}
		if !strings.Contains(warning, want) || (want == "") != (warning == "") {
			t.Errorf("Set(%q) warns %q, want %q", assignment, warning, want)
		}
	}
}

func TestChanged_LastWins(t *testing.T) {
	t.Parallel()
	c := config.Default()
	if _, err := c.SetFrom("broker.conf", "listenPort", "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Set("listenPort = 2"); err != nil {
		t.Fatal(err)
	}
	if got, want := c.Changed(), []string{"listenPort=2 (--set)"}; !slices.Equal(got, want) {
		t.Errorf("changed %q, want %q", got, want)
	}
}

func TestCheck_HoldsFieldsToTheSameLimits(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*config.Config){
		"flushDiskType":         func(c *config.Config) { c.FlushDiskType = "SOMETIMES" },
		"httpPort":              func(c *config.Config) { c.HTTPPort = -1 },
		"defaultTopicQueueNums": func(c *config.Config) { c.DefaultTopicQueueNums = 0 },
	} {
		c := config.Default()
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		change(c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Check: %v, want an error with %s", err, name)
		}
	}
}

func TestProperties_ReadBack(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.StorePathRootDir, c.BrokerName, c.BrokerClusterName, c.ListenPort = `C:\temp\new`, " of blanks ", "中😀", 20911
	text := c.Properties()
	for _, line := range []string{"listenPort=20911\n", "profile=\n", "brokerClusterName=\\u4e2d\\ud83d\\ude00\n", "bindAddress=0.0.0.0\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
	pairs, err := config.ParseProperties(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(pairs) != len(config.Keys()) {
		t.Errorf("%d lines, %d keys", len(pairs), len(config.Keys()))
	}
	again := config.Default()
	for _, p := range pairs {
		if _, err := again.SetFrom("text", p.Key, p.Value); err != nil {
			t.Error(err)
		}
	}
	if got := again.Properties(); got != text {
		t.Errorf("read back:\n%s\nwant:\n%s", got, text)
	}
}

func TestParseProperties(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []config.Pair
	}{
		"empty":                    {"\n \n", nil},
		"three dividers":           {"a=1\nb:2\nc 3\nd = 4", []config.Pair{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}}},
		"no value":                 {"a\nb=", []config.Pair{{"a", ""}, {"b", ""}}},
		"divider in value":         {"a=b=c:d", []config.Pair{{"a", "b=c:d"}}},
		"divider in key":           {`a\=b=c`, []config.Pair{{"a=b", "c"}}},
		"hash is no late comment":  {"a=b # c", []config.Pair{{"a", "b # c"}}},
		"continued":                {"a=b\\\n\t c\\\nd", []config.Pair{{"a", "bcd"}}},
		"escaped backslash at end": {"a=b\\\\\nc=d", []config.Pair{{"a", `b\`}, {"c", "d"}}},
		"continued at the end":     {"a=b\\", []config.Pair{{"a", "b"}}},
		"escapes":                  {`a=\t\n\r\f\x`, []config.Pair{{"a", "\t\n\r\fx"}}},
		"escaped blank at end":     {`a=b\  `, []config.Pair{{"a", "b "}}},
		"half a pair":              {`a=\ud83d!`, []config.Pair{{"a", "\uFFFD!"}}},
		"old line ends":            {"a=1\rb=2\r\nc=3", []config.Pair{{"a", "1"}, {"b", "2"}, {"c", "3"}}},
		"twice":                    {"a=1\na=2", []config.Pair{{"a", "1"}, {"a", "2"}}},
	} {
		got, err := config.ParseProperties(c.text)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.want)
		}
	}
	for _, text := range []string{`a=\u12`, `a=\uzzzz`, `a=\u+123`} {
		if pairs, err := config.ParseProperties("b=1\n" + text); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %q, %v, want an error that names line 2", text, pairs, err)
		}
	}
}

// FuzzParseProperties: whatever a file holds, every value of it survives being written and read.
func FuzzParseProperties(f *testing.F) {
	f.Add("a=b\\\n c\n#x\nk:v\\u0041")
	f.Add(`a=\ud83d\ude00 \  `)
	f.Fuzz(func(t *testing.T, text string) {
		pairs, err := config.ParseProperties(text)
		if err != nil {
			return
		}
		for _, p := range pairs[:min(len(pairs), 4)] {
			c := config.Default()
			c.BrokerName = p.Value
			again, err := config.ParseProperties(c.Properties())
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(again, func(q config.Pair) bool { return q.Key == "brokerName" })
			if want := strings.ToValidUTF8(p.Value, "\uFFFD"); i < 0 || strings.ToValidUTF8(again[i].Value, "\uFFFD") != want && !strings.Contains(want, "\uFFFD") {
				t.Fatalf("%q came back as %q", p.Value, again)
			}
		}
	})
}
