package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/message"
)

func quietOptions(dir string) Options {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return Options{
		Dir: dir, Clock: clock.Real{}, Log: log, StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"),
		CommitLogFileSize: 128 << 10, ConsumeQueueFileSize: 50 * unitSize, MaxMessageSize: 32 << 10, SyncFlushTimeoutMs: await.Patience.Milliseconds(),
		TagsCode: func(string, []byte) int64 { return 0 },
	}
}

func started(t testing.TB, opts Options) *Store {
	t.Helper()
	s, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStore_ManyFiles_StayWithinTheBudget reads from several goroutines at once more queues and
// log files than may be mapped.
func TestStore_ManyFiles_StayWithinTheBudget(t *testing.T) {
	t.Parallel()
	opts := quietOptions(t.TempDir())
	opts.MappedFiles = 8
	const queues, each = 40, 60
	s := started(t, opts)
	for i := range queues * each {
		rec := message.Record{Topic: "T", QueueID: int32(i % queues), Body: fmt.Appendf(nil, "%d%500s", i/queues, "")}
		if res, _ := s.Put(&rec, nil); !res.OK() {
			t.Fatalf("put %d: %+v", i, res)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = started(t, opts)
	defer s.Close()
	if logs := len(*s.log.files.Load()); logs < 10 {
		t.Fatalf("only %d log files", logs)
	}
	var readers sync.WaitGroup
	for r := range 4 {
		readers.Go(func() {
			for i := range queues {
				if err := readQueue(s, int32((i+r*7)%queues), each); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	readers.Wait()
	// The trim runs beside the readers: wait for it to come to rest.
	eventually(t, "no more files are mapped than the budget has", func() bool { return s.budget.count() <= opts.MappedFiles })
}

func readQueue(s *Store, queueID int32, want int64) error {
	q := s.Queue([]byte("T"), queueID)
	if q == nil || q.Max() != want {
		return fmt.Errorf("queue %d is not whole", queueID)
	}
	for at := range want {
		u, ok := q.Unit(at)
		if !ok {
			return fmt.Errorf("unit %d of queue %d is missing", at, queueID)
		}
		slice, err := s.Record(u.CommitLogOffset, u.Size)
		if err != nil {
			return err
		}
		v, err := message.Parse(slice.Bytes)
		if err == nil && (v.QueueID != queueID || v.QueueOffset != at) {
			err = fmt.Errorf("queue %d unit %d leads to queue %d unit %d", queueID, at, v.QueueID, v.QueueOffset)
		}
		slice.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkOpen_ManyQueues opens a store of 10,000 queues that was closed cleanly; b.N counts
// openings. It is the figure of docs/benchmarks.md.
func BenchmarkOpen_ManyQueues(b *testing.B) {
	opts := quietOptions(b.TempDir())
	opts.CommitLogFileSize, opts.ConsumeQueueFileSize = 16<<20, DefaultConsumeQueueFileSize
	s := started(b, opts)
	for i := range 10_000 {
		for range 3 {
			rec := message.Record{Topic: fmt.Sprintf("topic-%d", i/10), QueueID: int32(i % 10), Body: []byte("x")}
			if res, _ := s.Put(&rec, nil); !res.OK() {
				b.Fatalf("%+v", res)
			}
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Open(opts)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	_ = os.RemoveAll(opts.Dir)
}

// BenchmarkOpen_LargeLog opens a store whose log has 100 GB of sparse files, nearly all of
// which nobody looks at. It is a figure of docs/benchmarks.md.
func BenchmarkOpen_LargeLog(b *testing.B) {
	opts := quietOptions(b.TempDir())
	opts.CommitLogFileSize, opts.ConsumeQueueFileSize = 64<<20, DefaultConsumeQueueFileSize
	if err := os.Mkdir(filepath.Join(opts.Dir, commitLogDir), 0o755); err != nil {
		b.Fatal(err)
	}
	for start := int64(0); start < 100<<30; start += int64(opts.CommitLogFileSize) {
		if err := blankFile(filepath.Join(opts.Dir, logFileName(start)), opts.CommitLogFileSize); err != nil {
			b.Fatal(err)
		}
	}
	s := started(b, opts)
	if res, _ := s.Put(&message.Record{Topic: "T", Body: []byte("x")}, nil); !res.OK() || res.CommitLogOffset < 100<<30 {
		b.Fatalf("%+v", res)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Open(opts)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if n := s.budget.count(); n > 10 {
			b.Fatalf("%d files are mapped", n)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// blankFile makes a sparse log file without a record.
func blankFile(name string, size int) error {
	blank := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(size)), message.MagicBlank)
	return errors.Join(os.WriteFile(name, blank, 0o600), os.Truncate(name, int64(size)))
}
