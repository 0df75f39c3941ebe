package store_test

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sirupsen/logrus"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func options(dir string) store.Options {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return store.Options{
		Dir: dir, Clock: clock.Real{}, Log: log, StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"),
		CommitLogFileSize: 128 << 10, ConsumeQueueFileSize: 100 * 20, MaxMessageSize: 32 << 10, SyncFlushTimeoutMs: await.Patience.Milliseconds(),
		TagsCode: func(_ string, props []byte) int64 {
			tags, _ := message.PropertyGet(props, message.PropertyTags)
			return message.TagsHash(tags)
		},
	}
}

func mustOpen(t testing.TB, opts store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

func mustClose(t testing.TB, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func record(n int) *message.Record {
	return &message.Record{
		Topic: "T", QueueID: int32(n % 2), Body: fmt.Appendf(nil, "body-%d-%s", n, strings.Repeat("x", 300)),
		Properties: message.PropertyAppend(nil, message.PropertyTags, "TagA"), BornHost: netip.MustParseAddrPort("127.0.0.1:5"),
	}
}

func fill(t testing.TB, s *store.Store, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		res, pending := s.Put(record(i), nil)
		if pending || !res.OK() || res.QueueOffset != int64(i/2) {
			t.Fatalf("put %d: %+v, pending %v", i, res, pending)
		}
	}
}

// verify checks that records 0 … n-1 are in their queues, intact, and nothing else.
func verify(t testing.TB, s *store.Store, n int) {
	t.Helper()
	for i := range n {
		q := s.Queue([]byte("T"), int32(i%2))
		if q == nil {
			t.Fatalf("queue %d is missing", i%2)
		}
		u, ok := q.Unit(int64(i / 2))
		if !ok {
			t.Fatalf("unit %d of queue %d is missing, queue holds [%d, %d)", i/2, i%2, q.Min(), q.Max())
		}
		slice, err := s.Record(u.CommitLogOffset, u.Size)
		if err != nil {
			t.Fatal(err)
		}
		v, err := message.ParseVerify(slice.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if want := string(record(i).Body); string(v.Body) != want || u.TagsCode != message.TagsHash([]byte("TagA")) {
			t.Fatalf("record %d: body %.20q, tagsCode %d", i, v.Body, u.TagsCode)
		}
		slice.Release()
	}
	total := int64(0)
	for _, q := range s.Queues("T") {
		total += q.Max()
	}
	if total != int64(n) {
		t.Fatalf("the queues hold %d records, want %d", total, n)
	}
}

// TestStore_SurvivesEveryKindOfEnd fills several log files and opens the directory again
// after a clean end, after a copy of the running directory, and after damages.
func TestStore_SurvivesEveryKindOfEnd(t *testing.T) {
	t.Parallel()
	const n = 1200
	for name, c := range map[string]struct {
		clean  bool
		damage func(t *testing.T, dir string)
	}{
		"clean end":             {true, func(*testing.T, string) {}},
		"killed":                {false, func(*testing.T, string) {}},
		"queues deleted":        {true, func(t *testing.T, dir string) { remove(t, dir, "consumequeue") }},
		"one queue deleted":     {false, func(t *testing.T, dir string) { remove(t, dir, "consumequeue/T/1") }},
		"checkpoint deleted":    {false, func(t *testing.T, dir string) { remove(t, dir, "checkpoint") }},
		"checkpoint and queues": {false, func(t *testing.T, dir string) { remove(t, dir, "checkpoint"); remove(t, dir, "consumequeue") }},
		"stale abort":           {true, func(t *testing.T, dir string) { write(t, dir, "abort", "1") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := mustOpen(t, options(dir))
			fill(t, s, 0, n)
			verify(t, s, n)
			if c.clean {
				mustClose(t, s)
			} else {
				copied := filepath.Join(t.TempDir(), "copy")
				if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
				mustClose(t, s)
				dir = copied
			}
			c.damage(t, dir)
			s = mustOpen(t, options(dir))
			verify(t, s, n)
			fill(t, s, n, 10)
			mustClose(t, s)
			s = mustOpen(t, options(dir))
			verify(t, s, n+10)
			mustClose(t, s)
		})
	}
}

func TestStore_TornTail_IsCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, options(dir))
	fill(t, s, 0, 9)
	last, _ := s.Put(record(9), nil)
	mustClose(t, s)
	write(t, dir, "abort", "1")
	f, err := os.OpenFile(filepath.Join(dir, "commitlog", fmt.Sprintf("%020d", 0)), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 50), last.CommitLogOffset+int64(last.Size)-50); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, options(dir))
	verify(t, s, 9)
	fill(t, s, 9, 1)
	verify(t, s, 10)
	mustClose(t, s)
}

func TestStore_SyncFlush_PublishesOnlyWhatIsDurable(t *testing.T) {
	t.Parallel()
	mem := region.NewMemory()
	opts := options("")
	opts.Memory, opts.SyncFlush = mem, true
	s := mustOpen(t, opts)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Add(1)
		rec := record(0)
		rec.QueueID = int32(i % 5)
		if _, pending := s.Put(rec, done(wg.Done)); !pending {
			t.Fatal("a put under SYNC_FLUSH did not wait")
		}
	}
	wg.Wait()
	crashed := opts
	crashed.Memory = mem.Crash()
	mustClose(t, s)
	again := mustOpen(t, crashed)
	total := int64(0)
	for _, q := range again.Queues("T") {
		total += q.Max()
	}
	if total != 50 {
		t.Fatalf("%d of 50 acknowledged records survived the power cut", total)
	}
	mustClose(t, again)
}

type done func()

func (d done) PutDone(store.PutResult) { d() }

func TestStore_Limits(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, options(t.TempDir()))
	defer mustClose(t, s)
	for name, c := range map[string]struct {
		change func(*message.Record)
		want   store.Status
	}{
		"largest body":       {func(r *message.Record) { r.Body = make([]byte, 32<<10) }, store.PutOK},
		"body too large":     {func(r *message.Record) { r.Body = make([]byte, 32<<10+1) }, store.MessageIllegal},
		"empty body":         {func(r *message.Record) { r.Body = nil }, store.MessageIllegal},
		"properties":         {func(r *message.Record) { r.Properties = make([]byte, 32768) }, store.PropertiesSizeExceeded},
		"NUL in properties":  {func(r *message.Record) { r.Properties = []byte("k\x01\x00\x02") }, store.MessageIllegal},
		"NUL of the broker":  {func(r *message.Record) { r.Properties, r.Internal = []byte("k\x01\x00\x02"), true }, store.PutOK},
		"topic of 128":       {func(r *message.Record) { r.Topic = strings.Repeat("t", 128) }, store.MessageIllegal},
		"retry topic of 128": {func(r *message.Record) { r.Topic = "%RETRY%" + strings.Repeat("t", 121) }, store.PutOK},
	} {
		rec := record(0)
		c.change(rec)
		if res, _ := s.Put(rec, nil); res.Status != c.want {
			t.Errorf("%s: status %d, want %d", name, res.Status, c.want)
		}
	}
	opts := options(t.TempDir())
	opts.MaxMessageSize = 128 << 10
	if _, err := store.Open(opts); err == nil {
		t.Error("a message that fits no log file was not refused at start")
	}
}

func TestStore_Lock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, options(dir))
	if _, err := store.Open(options(dir)); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("second Open: %v, want ErrLocked", err)
	}
	mustClose(t, s)
	mustClose(t, mustOpen(t, options(dir)))
}

func TestStore_View_RefusesWhatIsNoRecord(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, options(t.TempDir()))
	defer mustClose(t, s)
	fill(t, s, 0, 4)
	second, _ := s.Put(record(4), nil)
	for _, offset := range []int64{-1, 1, second.CommitLogOffset + 7, 1 << 50} {
		if slice, err := s.Record(offset, 0); err == nil {
			t.Errorf("Record(%d) = %d bytes, want an error", offset, len(slice.Bytes))
		}
	}
	slice, err := s.Record(second.CommitLogOffset, 0)
	if err != nil {
		t.Fatal(err)
	}
	slice.Release()
}

// TestStore_OffsetByTime has the answers that the real broker gave for five messages.
func TestStore_OffsetByTime(t *testing.T) {
	t.Parallel()
	v := clock.NewVirtual(1_000)
	opts := options(t.TempDir())
	opts.Clock = v
	s, err := store.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		v.Set(int64(1_000 + 100*i))
		rec := record(0)
		if res, _ := s.Put(rec, nil); !res.OK() {
			t.Fatal(res)
		}
	}
	q := s.Queue([]byte("T"), 0)
	for _, c := range []struct{ at, lower, upper int64 }{
		{0, 0, 0}, {1000, 0, 0}, {1001, 1, 0}, {1100, 1, 1}, {1400, 4, 4}, {9999, 5, 4},
	} {
		if got := s.OffsetByTime(q, c.at, false); got != c.lower {
			t.Errorf("lower %d: %d, want %d", c.at, got, c.lower)
		}
		if got := s.OffsetByTime(q, c.at, true); got != c.upper {
			t.Errorf("upper %d: %d, want %d", c.at, got, c.upper)
		}
	}
	mustClose(t, s)
}

func BenchmarkPut(b *testing.B) {
	for _, size := range []int{128, 1024} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			opts := options(b.TempDir())
			opts.CommitLogFileSize, opts.ConsumeQueueFileSize = store.DefaultCommitLogFileSize, store.DefaultConsumeQueueFileSize
			s := mustOpen(b, opts)
			defer mustClose(b, s)
			rec := record(0)
			rec.Body = make([]byte, size)
			b.ReportAllocs()
			for b.Loop() {
				if res, _ := s.Put(rec, nil); !res.OK() {
					b.Fatal(res)
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

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
