package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/config"
)

func TestConfigPrint_ValuesAndTheirSources(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "broker.conf")
	if err := os.WriteFile(file, []byte("brokerName=b\nlistenPort=1\nslaveTimeout=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"config", "print", "-c", file, "--listen-port", "2", "--set", "httpPort=3", "--json", "--changed"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d, %s", code, errs.String())
	}
	var list []config.Entry
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	want := map[string][2]string{"brokerName": {"b", file}, "listenPort": {"2", "--listen-port"}, "httpPort": {"3", "--set"}}
	for _, e := range list {
		if got := [2]string{e.Value, e.Source}; got != want[e.Key] {
			t.Errorf("%s: got %q, want %q", e.Key, got, want[e.Key])
		}
	}
	if len(list) != len(want) || !strings.Contains(errs.String(), "slaveTimeout=1 has no effect") {
		t.Errorf("%d keys, warned of %q", len(list), errs.String())
	}
}

func TestConfigPrint_ForPeople(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run([]string{"config", "print", "brokerName"}, &out, &errs); code != 0 || out.String() != "KEY         VALUE     SOURCE\nbrokerName  broker-a  default\n" {
		t.Errorf("exit code %d, printed %q %q", code, out.String(), errs.String())
	}
}

func TestConfigPrint_WhatIsWrong(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`"brokerNane" is not known`:    {"brokerNane"},
		`maxMessageSize="a"`:           {"--set", "maxMessageSize=a"},
		"no such file":                 {"-c", "/no/such/file"},
		"were all set":                 {"--running", "--set", "brokerName=b"},
		"name a command, for example ": nil,
	} {
		words := append([]string{"config", "print"}, args...)
		if args == nil {
			words = words[:1]
		}
		var out, errs bytes.Buffer
		if code := run(words, &out, &errs); code == 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: exit code %d, %q, want %q", words, code, errs.String(), want)
		}
	}
}
