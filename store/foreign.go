package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

// ErrUnsupported is wrapped when a directory holds a store made with options that this one
// does not read.
var ErrUnsupported = errors.New("unsupported store")

// refuse looks, without writing, for reasons not to open the directory: one that is refused
// has not changed.
func (s *Store) refuse() error {
	if dir := s.opts.Dir; s.opts.FS == nil && s.opts.Memory == nil {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			return fmt.Errorf("store: storePathRootDir=%s is a file, want a directory", dir)
		}
	}
	found, err := Unsupported(s.fs)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("store: %s: %w: it has %s", s.opts.Dir, ErrUnsupported, strings.Join(found, ", "))
	}
	log, err := readLayout(s.fs)
	if err != nil {
		return err
	}
	if err := s.refuseClock(log); err != nil {
		return err
	}
	if len(log.starts) == 0 {
		s.warnOfStrangers()
		return s.refuseWithoutLog()
	}
	if err := s.refuseSize(log.size); err != nil {
		return err
	}
	return s.examine()
}

// examine has the owner of the store look at a directory that holds one.
func (s *Store) examine() error {
	if s.opts.Examine == nil {
		return nil
	}
	return s.opts.Examine(readOnly(s.fs))
}

// readOnly is the same tree for somebody who must not change it.
func readOnly(fs region.FS) region.FS {
	if disk, ok := fs.(region.OS); ok {
		disk.ReadOnly = true
		return disk
	}
	return fs
}

// warnOfStrangers tells that a new store is about to share its directory with other files. The
// real broker does not mind either.
func (s *Store) warnOfStrangers() {
	entries, err := s.fs.List(".")
	if err != nil || len(entries) == 0 {
		return
	}
	var names []string
	for _, e := range entries {
		switch e.Name {
		case commitLogDir, consumeQueueDir, checkpointFile, abortFile, "lock", "config":
			return
		case "namesrv", "lost+found":
		default:
			names = append(names, e.Name)
		}
	}
	if len(names) > 0 {
		s.opts.Log.WithFields(logrus.Fields{"directory": s.opts.Dir, "files": strings.Join(names[:min(3, len(names))], ", ")}).
			Warn("a new store is made in a directory that holds other files")
	}
}

// refuseSize refuses log files that are too small for a message of maxMessageSize.
func (s *Store) refuseSize(fileSize int64) error { return fitsBodies(s.opts.MaxMessageSize, fileSize) }

func fitsBodies(maxBody int, fileSize int64) error {
	if need := int64(maxBody + recordOverhead + message.BlankLength); need > fileSize {
		return fmt.Errorf("store: maxMessageSize %d does not fit log files of %d bytes: mappedFileSizeCommitLog must be at least %d",
			maxBody, fileSize, need)
	}
	return nil
}

// FitsBodies refuses a maxMessageSize, bytes, that the log's files are too small for.
func (s *Store) FitsBodies(maxBody int) error { return fitsBodies(maxBody, s.log.fileSize) }

// LimitBodies changes maxMessageSize, bytes: how large a body or batch may be that clients send from now on. It
// must pass FitsBodies.
func (s *Store) LimitBodies(maxBody int) { s.maxBody.Store(int64(maxBody)) }

// refuseWithoutLog lets a new directory pass, and stops at one whose log is somewhere else:
// opening it would cut every queue to nothing.
func (s *Store) refuseWithoutLog() error {
	if err := s.refuseSize(int64(s.opts.CommitLogFileSize)); err != nil {
		return err
	}
	if b, err := s.fs.ReadFile(checkpointFile); err != nil || len(b) < 8 || binary.BigEndian.Uint64(b) == 0 {
		return nil
	}
	topics, err := s.fs.List(consumeQueueDir)
	if err != nil || len(topics) == 0 {
		return err
	}
	return fmt.Errorf("store: %s has consume queues and a checkpoint and no log file: put the files of storePathCommitLog into %s/%s, or remove the checkpoint if they are lost",
		s.opts.Dir, s.opts.Dir, commitLogDir)
}

// foreign is what the real broker makes with options that this store does not read.
var foreign = []struct {
	dir, what string
	holds     func(region.Entry) bool
}{
	{"batchconsumequeue", "batch consume queues", anything},
	{"consumequeue_ext", "extended consume queues", anything},
	{"compaction/compactionLog", "compacted topics", anything},
	{"compaction/compactionCq", "compacted topics", anything},
	{"consumequeue_rocksdb", "RocksDB consume queues", anything},
	{consumeQueueDir, "RocksDB consume queues", isRocksDB},
	// Made by every broker, and empty without its options.
	{"rocksdbstore", "RocksDB timers, transactions or index", rocksDBData},
	{"config/metadata", "its configuration in RocksDB", isRocksDB},
	{"config/rdb", "its configuration in RocksDB", isRocksDB},
	{"config/topics", "its topics in RocksDB", isRocksDB},
	{"config/subscriptionGroups", "its groups in RocksDB", isRocksDB},
	{"config/consumerOffsets", "its consumer offsets in RocksDB", isRocksDB},
	{".", "a DLedger log", func(e region.Entry) bool { return e.Dir && strings.HasPrefix(e.Name, "dledger-") }},
}

func anything(region.Entry) bool { return true }

// isRocksDB knows a RocksDB by the file that names its newest manifest.
func isRocksDB(e region.Entry) bool { return !e.Dir && e.Name == "CURRENT" }

func rocksDBData(e region.Entry) bool {
	return strings.HasSuffix(e.Name, ".sst") || strings.HasSuffix(e.Name, ".log") && e.Size > 0
}

// Unsupported names what a directory holds that this store does not read; nothing when it can
// be opened.
func Unsupported(fs region.FS) ([]string, error) {
	var found []string
	for _, f := range foreign {
		entries, err := fs.List(f.dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if f.holds(e) {
				found = append(found, fmt.Sprintf("%s (%s)", f.what, strings.TrimPrefix(f.dir+"/"+e.Name, "./")))
				break
			}
		}
	}
	return found, nil
}

// layout is the log files of a directory: of one size, without a gap.
type layout struct {
	starts []int64 // ascending, bytes
	size   int64   // of every file, bytes; 0 without one
	// empty is a last file without content, as a crash while it is made leaves it; "" without.
	empty string
}

// CheckLayout tells why the files of a log cannot be a log: one is missing, or they have
// different sizes.
func CheckLayout(fs region.FS) error {
	_, err := readLayout(fs)
	return err
}

// readLayout reads the names of the log's files and refuses what is no log.
func readLayout(fs region.FS) (layout, error) {
	var l layout
	entries, err := fs.List(commitLogDir)
	if err != nil {
		return l, err
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	for i, e := range entries {
		name := commitLogDir + "/" + e.Name
		var start int64
		if _, err := fmt.Sscanf(e.Name, "%020d", &start); err != nil || len(e.Name) != 20 || e.Dir {
			return l, fmt.Errorf("store: %s is not a log file", name)
		}
		if e.Size == 0 && i == len(entries)-1 {
			l.empty = name
			break
		}
		if i == 0 {
			l.size = e.Size
		}
		if e.Size != l.size {
			return l, fmt.Errorf("store: %s has %d bytes, the first log file has %d", name, e.Size, l.size)
		}
		if n := len(l.starts); n > 0 && start != l.starts[n-1]+l.size {
			return l, fmt.Errorf("store: the log file %s is missing, the next is %s", logFileName(l.starts[n-1]+l.size), name)
		}
		l.starts = append(l.starts, start)
	}
	return l, nil
}
