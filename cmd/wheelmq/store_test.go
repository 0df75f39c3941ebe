package main

import (
	"encoding/json"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// smallStore makes a store with a few records.
func smallStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	log := logrus.New()
	log.SetOutput(io.Discard)
	s, err := store.Open(store.Options{
		Dir: dir, Clock: clock.Real{}, Log: log, TagsCode: func(string, []byte) int64 { return 0 },
		CommitLogFileSize: 128 << 10, MaxMessageSize: 4096, StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		rec := message.Record{Topic: "T", Body: []byte("body"), BornHost: netip.MustParseAddrPort("127.0.0.1:5")}
		if res, _ := s.Put(&rec, nil); !res.OK() {
			t.Fatal(res)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func change(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
}

// TestStore_ExitCodes runs both commands on what they may be given.
func TestStore_ExitCodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change         func(t *testing.T, dir string)
		inspect, check int
		want           string // in what either prints
	}{
		"sound": {func(*testing.T, string) {}, 0, 0, "nothing, the last end was clean"},
		"damaged": {func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, "commitlog", strings.Repeat("0", 20)), "garbage")
		}, 0, 1, "the store is damaged"},
		"unsupported": {func(t *testing.T, dir string) { change(t, filepath.Join(dir, "dledger-n0", "x"), "x") }, 2, 2, "a DLedger log"},
		"not a store": {func(t *testing.T, dir string) {
			remove(t, dir, "commitlog")
			remove(t, dir, "consumequeue")
			remove(t, dir, "checkpoint")
		}, 2, 2, "not a store"},
		"missing": {func(t *testing.T, dir string) { remove(t, dir, "") }, 2, 2, "no such file"},
		"a file":  {func(t *testing.T, dir string) { remove(t, dir, ""); change(t, dir, "x") }, 2, 2, "is a file, want the directory of a store"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := smallStore(t)
			c.change(t, dir)
			for command, code := range map[string]int{"inspect": c.inspect, "check": c.check} {
				var out, errs strings.Builder
				if got := run([]string{"store", command, dir}, &out, &errs); got != code {
					t.Errorf("%s: exit code %d, want %d\n%s%s", command, got, code, &out, &errs)
				}
				if command == "check" && !strings.Contains(out.String()+errs.String(), c.want) {
					t.Errorf("%s does not print %q:\n%s%s", command, c.want, &out, &errs)
				}
			}
		})
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func TestStore_JSON(t *testing.T) {
	t.Parallel()
	dir := smallStore(t)
	for _, command := range []string{"inspect", "check"} {
		var out, errs strings.Builder
		if code := run([]string{"store", command, "-o", "json", dir}, &out, &errs); code != 0 || errs.String() != "" {
			t.Fatalf("%s: exit code %d, %s", command, code, &errs)
		}
		var v struct {
			Records int64
			Log     struct{ Records int64 }
		}
		if err := json.Unmarshal([]byte(out.String()), &v); err != nil || v.Records+v.Log.Records != 10 {
			t.Errorf("%s: %v\n%s", command, err, &out)
		}
	}
	if code := run([]string{"store", "check", "-o", "xml", dir}, io.Discard, io.Discard); code != exitNoStore {
		t.Errorf("an unknown format: exit code %d", code)
	}
}

// TestStore_InUse_IsNotRead has a server on the directory.
func TestStore_InUse_IsNotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startServer(t, free("--store", dir)...)
	for _, command := range []string{"inspect", "check"} {
		var out, errs strings.Builder
		if code := run([]string{"store", command, dir}, &out, &errs); code != exitNoStore || !strings.Contains(errs.String(), "the store is in use") || out.String() != "" {
			t.Errorf("%s: exit code %d\n%s%s", command, code, &out, &errs)
		}
	}
	s.stop(t)
	if code := run([]string{"store", "check", dir}, io.Discard, io.Discard); code != 0 {
		t.Errorf("after the stop: exit code %d", code)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		terminal bool
		want     string
	}{
		"a file":     {false, "30 % checked\n41 % checked\n100 % checked\n"},
		"a terminal": {true, "\r[============                            ]  30 %\r[=============                           ]  34 %\r[================                        ]  41 %\r[========================================] 100 %\r\x1b[K"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			p := newProgress(&out, "checked")
			now := p.begin
			p.now, p.terminal = func() int64 { return now }, c.terminal
			// Within the first second nothing is shown.
			p.show(10, 100)
			now += quietMs
			for _, done := range []int64{30, 30, 34, 41, 100} {
				p.show(done, 100)
			}
			p.end()
			if out.String() != c.want {
				t.Errorf("got %q, want %q", out.String(), c.want)
			}
		})
	}
}
