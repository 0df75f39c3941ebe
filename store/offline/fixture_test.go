package offline_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/offline"
	"github.com/wheelmq/wheelmq/store/region"
)

// begin is when every store of these tests was written, ms.
const begin = 1_796_000_000_000

func options(dir string) store.Options {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return store.Options{
		Dir: dir, Clock: clock.NewVirtual(begin), Log: log, StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"),
		CommitLogFileSize: 128 << 10, ConsumeQueueFileSize: 100 * store.UnitSize, MaxMessageSize: 32 << 10, TagsCode: tagsCode,
	}
}

// tagsCode is the due instant of a delayed record, as the broker has it.
func tagsCode(topic string, props []byte) int64 {
	if topic == message.TopicSchedule {
		due, _ := message.PropertyGet(props, message.PropertyDueMs)
		if n, err := strconv.ParseInt(string(due), 10, 64); err == nil {
			return n
		}
	}
	tags, _ := message.PropertyGet(props, message.PropertyTags)
	return message.TagsHash(tags)
}

// builder fills a store.
type builder struct {
	t   *testing.T
	dir string
	s   *store.Store
}

func build(t *testing.T) *builder {
	t.Helper()
	b := &builder{t: t, dir: t.TempDir()}
	b.open()
	return b
}

func (b *builder) open() {
	b.t.Helper()
	s, err := store.Open(options(b.dir))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.s = s
}

func (b *builder) close() {
	b.t.Helper()
	if err := b.s.Close(); err != nil {
		b.t.Fatal(err)
	}
}

// put stores a record; properties are name, value, name, value …
func (b *builder) put(topic string, queueID int32, body string, properties ...string) store.PutResult {
	b.t.Helper()
	rec := message.Record{Topic: topic, QueueID: queueID, Body: []byte(body), BornHost: netip.MustParseAddrPort("127.0.0.1:5")}
	for i := 0; i < len(properties); i += 2 {
		rec.Properties = message.PropertyAppend(rec.Properties, properties[i], properties[i+1])
	}
	res, _ := b.s.Put(&rec, nil)
	if !res.OK() {
		b.t.Fatalf("put to %s: %+v", topic, res)
	}
	return res
}

// plain stores n records of 300 bytes and more in the topic's queues 0 and 1 in turn.
func (b *builder) plain(topic string, n int) (results []store.PutResult) {
	b.t.Helper()
	for i := range n {
		results = append(results, b.put(topic, int32(i%2), fmt.Sprintf("%d%s", i, strings.Repeat("x", 300)), "KEYS", "k"+strconv.Itoa(i)))
	}
	return results
}

func (b *builder) write(name, content string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// overwrite changes bytes of a file.
func (b *builder) overwrite(name string, at int64, content string) {
	b.t.Helper()
	f, err := os.OpenFile(filepath.Join(b.dir, name), os.O_WRONLY, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(content), at); err != nil {
		b.t.Fatal(err)
	}
}

func (b *builder) remove(name string) {
	b.t.Helper()
	if err := os.RemoveAll(filepath.Join(b.dir, name)); err != nil {
		b.t.Fatal(err)
	}
}

// readOnly is the directory as this package is given it.
func (b *builder) readOnly() region.FS { return region.OS{Root: b.dir, ReadOnly: true} }

func (b *builder) offline() *offline.Dir {
	b.t.Helper()
	d, err := offline.Open(b.readOnly())
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := d.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return d
}

// fingerprint lists every name below the directory with its size and content.
func (b *builder) fingerprint() string {
	b.t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			fmt.Fprintln(&all, path)
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %d %x\n", path, len(content), sha256.Sum256(content))
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all.String()
}
