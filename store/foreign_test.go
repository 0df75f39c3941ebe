package store_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/store"
)

// fingerprint lists every name below a directory with its kind, size and content.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			fmt.Fprintln(&all, path)
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %d %x\n", path, len(b), sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestOpen_Refused_ChangesNothing opens what this store does not read. The error names the
// reason, and the directory stays as it was.
func TestOpen_Refused_ChangesNothing(t *testing.T) {
	t.Parallel()
	const log0, log1, log2 = "commitlog/00000000000000000000", "commitlog/00000000000000131072", "commitlog/00000000000000262144"
	full := strings.Repeat("\x00", 128<<10)
	running := strings.Repeat("\x01", 4096) // a checkpoint with instants in it
	for name, c := range map[string]struct {
		files       map[string]string
		unsupported bool
		want        string
	}{
		"batch consume queues":           {map[string]string{"batchconsumequeue/T/0/00000000000000000000": "x"}, true, "batch consume queues (batchconsumequeue/T)"},
		"extended consume queues":        {map[string]string{"consumequeue_ext/T/0/00000000000000000000": "x"}, true, "extended consume queues"},
		"compacted topics":               {map[string]string{"compaction/compactionLog/T/0/0": "x"}, true, "compacted topics"},
		"RocksDB queues":                 {map[string]string{"consumequeue_rocksdb/CURRENT": "MANIFEST-1"}, true, "RocksDB consume queues (consumequeue_rocksdb/CURRENT)"},
		"RocksDB queues of older ones":   {map[string]string{"consumequeue/CURRENT": "MANIFEST-1"}, true, "RocksDB consume queues (consumequeue/CURRENT)"},
		"RocksDB timers":                 {map[string]string{"rocksdbstore/CURRENT": "M", "rocksdbstore/000004.log": "x"}, true, "RocksDB timers, transactions or index"},
		"RocksDB timers, closed":         {map[string]string{"rocksdbstore/000009.sst": "x"}, true, "RocksDB timers, transactions or index"},
		"RocksDB configuration":          {map[string]string{"config/metadata/CURRENT": "M"}, true, "its configuration in RocksDB"},
		"RocksDB topics":                 {map[string]string{"config/topics/CURRENT": "M"}, true, "its topics in RocksDB"},
		"DLedger":                        {map[string]string{"dledger-n0/data/0": "x"}, true, "a DLedger log (dledger-n0)"},
		"two of them":                    {map[string]string{"dledger-n0/data/0": "x", "consumequeue_ext/T/0/0": "x"}, true, "extended consume queues (consumequeue_ext/T), a DLedger log (dledger-n0)"},
		"log files of different sizes":   {map[string]string{log0: full, log1: "short"}, false, "commitlog/00000000000000131072 has 5 bytes, the first log file has 131072"},
		"a log file missing":             {map[string]string{log0: full, log2: full}, false, "the log file commitlog/00000000000000131072 is missing, the next is commitlog/00000000000000262144"},
		"something else in the log":      {map[string]string{log0: full, "commitlog/notes.txt": ""}, false, "commitlog/notes.txt is not a log file"},
		"log files too small":            {map[string]string{log0: full[:64<<10]}, false, "maxMessageSize 32768 does not fit log files of 65536 bytes"},
		"an empty last file and a gap":   {map[string]string{log0: full, log2: full, "commitlog/00000000000000393216": ""}, false, "is missing"},
		"the log in another place":       {map[string]string{"checkpoint": running, "consumequeue/T/0/00000000000000000000": "x"}, false, "storePathCommitLog"},
		"nothing but a directory's name": {map[string]string{log0 + "/x": "x"}, false, "is not a log file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, content := range c.files {
				write(t, dir, file, content)
			}
			before := fingerprint(t, dir)
			s, err := store.Open(options(dir))
			if err == nil {
				mustClose(t, s)
				t.Fatal("it was opened")
			}
			if errors.Is(err, store.ErrUnsupported) != c.unsupported || !strings.Contains(err.Error(), c.want) {
				t.Errorf("refused with %v, want %q", err, c.want)
			}
			if after := fingerprint(t, dir); after != before {
				t.Errorf("the directory was\n%s and is\n%s", before, after)
			}
		})
	}
}

func TestOpen_DirectoryIsAFile_SaysSo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write(t, filepath.Dir(path), "file", "content")
	if _, err := store.Open(options(path)); err == nil || !strings.Contains(err.Error(), "storePathRootDir="+path+" is a file, want a directory") {
		t.Errorf("got %v", err)
	}
}

// TestOpen_WhatEveryRealBrokerLeaves is no reason to refuse: an empty RocksDB, and directories
// that its options would fill.
func TestOpen_WhatEveryRealBrokerLeaves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, file := range []string{"rocksdbstore/CURRENT", "rocksdbstore/MANIFEST-000005", "rocksdbstore/OPTIONS-000009", "timerwheel", "abort.bak"} {
		write(t, dir, file, "x")
	}
	write(t, dir, "rocksdbstore/000004.log", "")
	for _, sub := range []string{"compaction/compactionLog", "compaction/compactionCq", "consumequeue_ext", "batchconsumequeue", "timerlog"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, mustOpen(t, options(dir)))
}

// TestOpen_SharedDirectory_Warns makes a store beside other files, and says so once.
func TestOpen_SharedDirectory_Warns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "photo.jpg", "x")
	opts := options(dir)
	log, hook := test.NewNullLogger()
	opts.Log = log
	mustClose(t, mustOpen(t, opts))
	mustClose(t, mustOpen(t, opts))
	var warnings []string
	for _, e := range hook.AllEntries() {
		if e.Level <= logrus.WarnLevel {
			warnings = append(warnings, fmt.Sprintf("%s %v", e.Message, e.Data["files"]))
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "photo.jpg") {
		t.Errorf("warnings %q", warnings)
	}
}
