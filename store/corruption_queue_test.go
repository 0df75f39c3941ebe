package store_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"testing"
)

// oldUnits tells which records lose their units when a queue file that nobody looks at is damaged
// inside.
var oldUnits = map[string]func(wreck, int) bool{
	"half zero":  func(_ wreck, i int) bool { return i%2 == 0 && i < 100 },
	"all zero":   func(_ wreck, i int) bool { return i%2 == 0 && i < 200 },
	"of garbage": func(_ wreck, i int) bool { return i%2 == 0 && i < 200 },
}

func queueCorruptions() (table []corruption) {
	for n, which := range map[int]string{0: "first", 2: "middle", 4: "last"} {
		for what, damage := range map[string]func(t *testing.T, w wreck){
			"missing": func(t *testing.T, w wreck) {
				if err := os.Remove(w.queueFile(n)); err != nil {
					t.Fatal(err)
				}
			},
			"empty":      func(t *testing.T, w wreck) { w.truncate(t, w.queueFile(n), 0) },
			"short":      func(t *testing.T, w wreck) { w.truncate(t, w.queueFile(n), 1000) },
			"not whole":  func(t *testing.T, w wreck) { w.truncate(t, w.queueFile(n), 1007) },
			"too long":   func(t *testing.T, w wreck) { w.truncate(t, w.queueFile(n), 4000) },
			"half zero":  func(t *testing.T, w wreck) { overwrite(t, w.queueFile(n), 0, make([]byte, 1000)) },
			"all zero":   func(t *testing.T, w wreck) { overwrite(t, w.queueFile(n), 0, make([]byte, 2000)) },
			"of garbage": func(t *testing.T, w wreck) { overwrite(t, w.queueFile(n), 0, bytes.Repeat([]byte{0xEE}, 2000)) },
		} {
			c := corruption{name: fmt.Sprintf("%s queue file %s", which, what), damage: damage}
			if n == 0 {
				// Old files are not looked at: what is damaged in them is not read.
				c.gone = oldUnits[what]
			}
			table = append(table, c)
		}
	}
	return append(table, []corruption{
		{name: "all queues missing", damage: func(t *testing.T, w wreck) { remove(t, w.dir, "consumequeue") }},
		{name: "one queue missing", damage: func(t *testing.T, w wreck) { remove(t, w.dir, "consumequeue/T/1") }},
		{name: "one queue's files missing", damage: func(t *testing.T, w wreck) {
			remove(t, w.dir, "consumequeue/T/1")
			if err := os.Mkdir(w.dir+"/consumequeue/T/1", 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "queue behind the log", damage: func(t *testing.T, w wreck) {
			overwrite(t, w.queueFile(4), 10*20, make([]byte, 90*20))
		}},
		{name: "queue ahead of the log", cut: 970, damage: func(t *testing.T, w wreck) {
			at := w.puts[970].CommitLogOffset
			w.logAt(t, at, make([]byte, w.end()-at))
		}},
		{name: "units past the end", damage: func(t *testing.T, w wreck) {
			overwrite(t, w.queueFile(4), 95*20, unit(1000, 300))
			overwrite(t, w.queueFile(4), 96*20, unit(1<<40, 300))
		}},
		{name: "a unit of another record", damage: func(t *testing.T, w wreck) {
			overwrite(t, w.queueFile(4), 90*20, unit(w.puts[3].CommitLogOffset, w.puts[3].Size))
		}},
		{name: "a garbage unit", damage: func(t *testing.T, w wreck) {
			overwrite(t, w.queueFile(4), 89*20, bytes.Repeat([]byte{0x77}, 20))
		}},
		{name: "a garbage unit of an old record", gone: only(20), damage: func(t *testing.T, w wreck) {
			overwrite(t, w.queueFile(0), 10*20, bytes.Repeat([]byte{0x77}, 20))
		}},
		{name: "files that are none of a queue", damage: func(t *testing.T, w wreck) {
			w.write(t, "consumequeue/T/notes", []byte("x"))
			w.write(t, "consumequeue/T/0/notes", []byte("x"))
		}},
	}...)
}

func unit(offset int64, size int32) []byte {
	b := make([]byte, 20)
	binary.BigEndian.PutUint64(b, uint64(offset))
	binary.BigEndian.PutUint32(b[8:], uint32(size))
	return b
}

func smallFileCorruptions() (table []corruption) {
	const hour = 3_600_000
	for name, damage := range map[string]func(t *testing.T, w wreck){
		"missing":    func(t *testing.T, w wreck) { remove(t, w.dir, "checkpoint") },
		"empty":      func(t *testing.T, w wreck) { w.write(t, "checkpoint", nil) },
		"zero":       func(t *testing.T, w wreck) { w.write(t, "checkpoint", make([]byte, 4096)) },
		"short":      func(t *testing.T, w wreck) { w.write(t, "checkpoint", make([]byte, 20)) },
		"of garbage": func(t *testing.T, w wreck) { w.write(t, "checkpoint", bytes.Repeat([]byte{0xEE}, 4096)) },
		"an hour ahead": func(t *testing.T, w wreck) {
			w.write(t, "checkpoint", checkpoint(w.end(), w.puts[0].StoreTimestamp+hour))
		},
		"behind":                   func(t *testing.T, w wreck) { w.write(t, "checkpoint", checkpoint(w.puts[500].CommitLogOffset, 1)) },
		"past the end":             func(t *testing.T, w wreck) { w.write(t, "checkpoint", checkpoint(w.end()+1000, 1)) },
		"far past the end":         func(t *testing.T, w wreck) { w.write(t, "checkpoint", checkpoint(1<<60, 1)) },
		"in the middle of records": func(t *testing.T, w wreck) { w.write(t, "checkpoint", checkpoint(w.puts[500].CommitLogOffset+7, 1)) },
	} {
		table = append(table,
			corruption{name: "checkpoint " + name, damage: damage},
			corruption{name: "no meta, checkpoint " + name, damage: func(t *testing.T, w wreck) {
				remove(t, w.dir, "config")
				damage(t, w)
			}},
		)
	}
	for name, text := range map[string]string{
		"empty": "", "of garbage": "\x00\x01{", "of another kind": "[1]", "of nothing": "{}",
		"behind":       `{"epoch":5,"end":1000,"queues":2,"units":4}`,
		"past the end": `{"epoch":5,"end":1099511627776,"queues":2,"units":990}`,
		"wrong":        `{"epoch":5,"end":-1,"queues":-2,"units":-990,"heads":-1}`,
		"of too few":   `{"epoch":5,"end":300000,"queues":1,"units":1}`,
	} {
		table = append(table, corruption{name: "meta " + name, damage: func(t *testing.T, w wreck) {
			w.write(t, "config/wheelmqStore.json", []byte(text))
		}})
	}
	return append(table, []corruption{
		{name: "no abort marker", damage: func(t *testing.T, w wreck) { remove(t, w.dir, "abort") }},
		{name: "an abort marker of a stranger", damage: func(t *testing.T, w wreck) { w.write(t, "abort", []byte("what is this")) }},
		{name: "nothing but the log", damage: func(t *testing.T, w wreck) {
			for _, name := range []string{"consumequeue", "checkpoint", "config", "abort", "index"} {
				remove(t, w.dir, name)
			}
		}},
		{name: "leftovers of writing small files", damage: func(t *testing.T, w wreck) {
			w.write(t, "checkpoint.tmp", []byte("half"))
			w.write(t, "config/wheelmqStore.json.tmp", nil)
		}},
	}...)
}
