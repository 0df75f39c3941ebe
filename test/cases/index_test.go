package cases

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// record keeps what the real broker wrote for the tests of package store.
var record = flag.String("record-index", "", "with WHEELMQ_TARGET=peer: directory to copy the real broker's log and index to")

// Sizes of the files in the tests of the index: several files for few messages.
const (
	indexSlots = 16
	indexUnits = 20
	indexLog   = 128 << 10
)

// TestIndexFiles_HoldEveryKey looks into the index directory of the stopped server. The keys
// that must be there are taken from the log, the way to them is the format's.
func TestIndexFiles_HoldEveryKey(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, map[string]string{
		"maxHashSlotNum": strconv.Itoa(indexSlots), "maxIndexNum": strconv.Itoa(indexUnits),
		"mappedFileSizeCommitLog": strconv.Itoa(indexLog), "maxMessageSize": "4096",
	})
	c := wire.Dial(t, target.BrokerAddr)
	c.MustCreateTopic(t, "Orders", 1)
	for _, properties := range []string{
		wire.Properties("UNIQ_KEY", "7F00000100010000000000000000AAAA", "KEYS", "order-1 customer-7", "TAGS", "paid"),
		wire.Properties("KEYS", "order-2"),
		wire.Properties("TAGS", "paid"),
		wire.Properties("other", "nothing to look up"),
		wire.Properties("KEYS", "  order-3   order-3 \t x "),
		wire.Properties("KEYS", "键 ключ 🔑", "TAGS", "标签"),
		wire.Properties("KEYS", "Aa BB polygenelubricants"),
		wire.Properties("UNIQ_KEY", "7F00000100010000000000000000BBBB", "KEYS", "waits", "DELAY", "18"),
	} {
		c.MustSend(t, wire.Send{Topic: "Orders", Properties: properties, Body: []byte("body")})
	}
	for i := range 12 {
		c.MustSend(t, wire.Send{Topic: "Orders", Body: []byte("body"),
			Properties: wire.Properties("UNIQ_KEY", fmt.Sprintf("7F0000010001%020d", i), "KEYS", fmt.Sprintf("order-%d order-2", 100+i))})
	}
	target.Stop()
	if *record != "" && target.Kind == peer.Real {
		keep(t, target.StoreDir, *record)
	}
	log := readLog(t, target.StoreDir)
	files := readIndex(t, target.StoreDir)
	if len(files) < 2 {
		t.Fatalf("%d index files, want several", len(files))
	}
	units := 0
	for _, f := range files {
		units += f.count() - 1
	}
	want := 0
	for _, m := range log {
		for _, key := range indexKeys(m) {
			want++
			if !slices.ContainsFunc(files, func(f indexFile) bool { return slices.Contains(f.find(key), m.CommitLogOffset) }) {
				t.Errorf("%q of the record at %d is in no index file", key, m.CommitLogOffset)
			}
		}
	}
	if units != want {
		t.Errorf("%d units, want %d", units, want)
	}
}

// indexKeys are the keys that a stored message is found by.
func indexKeys(m wire.Message) (keys []string) {
	if id := m.Properties["UNIQ_KEY"]; id != "" {
		keys = append(keys, m.Topic+"#"+id)
	}
	for key := range strings.SplitSeq(m.Properties["KEYS"], " ") {
		if key != "" {
			keys = append(keys, m.Topic+"#"+key)
		}
	}
	if tags := m.Properties["TAGS"]; tags != "" {
		keys = append(keys, m.Topic+"#T#"+tags)
	}
	return keys
}

// indexFile is the content of one: a header of 40 bytes, slots of 4, units of 20.
type indexFile []byte

func (f indexFile) int32(at int) int { return int(int32(binary.BigEndian.Uint32(f[at:]))) }

func (f indexFile) count() int { return f.int32(36) }

// find follows the chain of a key's slot, newest first.
func (f indexFile) find(key string) (offsets []int64) {
	hash := javaHash(key)
	for unit := f.int32(40 + 4*(hash%indexSlots)); unit > 0; {
		at := 40 + 4*indexSlots + 20*unit
		if f.int32(at) == hash {
			offsets = append(offsets, int64(binary.BigEndian.Uint64(f[at+4:])))
		}
		unit = f.int32(at + 16)
	}
	return offsets
}

func javaHash(text string) int {
	var h int32
	for _, c := range utf16.Encode([]rune(text)) {
		h = 31*h + int32(c)
	}
	if h < 0 {
		h = -h
	}
	return int(max(h, 0))
}

func readIndex(t *testing.T, store string) (files []indexFile) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(store, "index", strings.Repeat("[0-9]", 17)))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) != 40+4*indexSlots+20*indexUnits {
			t.Fatalf("%s has %d bytes", name, len(b))
		}
		files = append(files, b)
	}
	return files
}

// readLog reads the messages of the only log file.
func readLog(t *testing.T, store string) []wire.Message {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(store, "commitlog", fmt.Sprintf("%020d", 0)))
	if err != nil {
		t.Fatal(err)
	}
	end := 0
	for end+4 < len(b) && binary.BigEndian.Uint32(b[end:]) != 0 {
		end += int(binary.BigEndian.Uint32(b[end:]))
	}
	messages, err := wire.Messages(b[:end])
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// keep copies the log and the index, and nothing else.
func keep(t *testing.T, store, dir string) {
	t.Helper()
	for _, name := range []string{"commitlog", "index"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(store, name))); err != nil {
			t.Fatal(err)
		}
	}
}
