package offline_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/offline"
)

// sample is a store of four log files with delayed messages, offsets and configuration.
func sample(t *testing.T) (b *builder, records []store.PutResult) {
	t.Helper()
	b = build(t)
	records = b.plain("T", 1100)
	for i := range 3 {
		b.put(message.TopicSchedule, 1, "late", message.PropertyDueMs, fmt.Sprint(begin+5000-i), message.PropertyDelay, "2")
	}
	b.write("config/topics.json", `{"topicConfigTable":{"T":{"perm":6,"readQueueNums":2},"Empty":{"perm":4}}}`)
	b.write("config/subscriptionGroup.json", `{"subscriptionGroupTable":{"G":{},"Idle":{}}}`)
	b.write("config/consumerOffset.json", `{"offsetTable":{"T@G":{0:540,1:550}}}`)
	b.write("config/delayOffset.json", `{"offsetTable":{2:1}}`)
	return b, records
}

func check(t *testing.T, b *builder) *offline.Result {
	t.Helper()
	r, err := b.offline().Check(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func logFile(n int) string { return fmt.Sprintf("commitlog/%020d", n*128<<10) }

func i8(n int64) string { return string(binary.BigEndian.AppendUint64(nil, uint64(n))) }

func TestCheck_SoundStore(t *testing.T) {
	t.Parallel()
	b, _ := sample(t)
	end := b.s.MaxCommitLogOffset()
	b.close()
	before := b.fingerprint()
	r := check(t, b)
	if r.Damaged || len(r.Findings) > 0 || r.Records != 1103 || r.Units != 1103 || r.LogEnd != end {
		t.Errorf("got %+v", r)
	}
	if len(r.Recovery) != 1 || r.Recovery[0] != "nothing, the last end was clean" {
		t.Errorf("next start: %q", r.Recovery)
	}
	if after := b.fingerprint(); after != before {
		t.Error("the check changed the directory")
	}
}

// TestCheck_Findings damages a store in every way, and wants the file and the offset named.
func TestCheck_Findings(t *testing.T) {
	t.Parallel()
	type damage func(b *builder, records []store.PutResult)
	const second = 128 << 10
	for name, c := range map[string]struct {
		damage  damage
		want    []string // what, where, in this order
		damaged bool
		next    string
	}{
		"a body": {
			func(b *builder, r []store.PutResult) { b.overwrite(logFile(0), r[5].CommitLogOffset+100, "YY") },
			[]string{"damage commitlog/00000000000000000000 at 2005: no record for 401 bytes: malformed record: body CRC"}, true, "end the log at",
		},
		"a size": {
			func(b *builder, r []store.PutResult) { b.overwrite(logFile(0), r[5].CommitLogOffset, "\x7f\xff") },
			[]string{"damage commitlog/00000000000000000000 at 2005: no record for 401 bytes"}, true, "",
		},
		"a page of the log": {
			func(b *builder, r []store.PutResult) {
				b.overwrite(logFile(1), 4096, strings.Repeat("\x00", 4096))
			},
			[]string{"damage commitlog/00000000000000131072 at "}, true, "",
		},
		"a log file missing": {
			func(b *builder, r []store.PutResult) { b.remove(logFile(1)) },
			[]string{"damage commitlog/00000000000000262144 at 0: the file before it is missing: it should begin at 131072"}, true, "refuse the directory: store: the log file commitlog/00000000000000131072 is missing",
		},
		"a log file cut off": {
			func(b *builder, r []store.PutResult) {
				if err := os.Truncate(filepath.Join(b.dir, logFile(2)), 1000); err != nil {
					b.t.Fatal(err)
				}
			},
			[]string{"damage commitlog/00000000000000262144 at 0: has 1000 bytes, the first file has 131072"}, true, "refuse the directory",
		},
		"garbage behind the end": {
			func(b *builder, r []store.PutResult) {
				end := check(b.t, b).LogEnd
				b.overwrite(logFile(3), end-3*second, "garbage")
				b.write("abort", "1")
			},
			[]string{"left over commitlog/00000000000000393216 at "}, false, "clear 7 bytes behind it",
		},
		"a queue deleted": {
			func(b *builder, r []store.PutResult) { b.remove("consumequeue/T/1") },
			[]string{"damage commitlog/00000000000000000000 at 401: the records have no units: T queue 1 offsets 0 to 549"}, true, "put 550 records into their queues",
		},
		"a unit changed": {
			func(b *builder, r []store.PutResult) {
				b.overwrite("consumequeue/T/0/00000000000000000000", 40, i8(77))
			},
			[]string{
				"damage consumequeue/T/0/00000000000000000000 at 40: the unit leads to 77, where no record of its queue is",
				"damage commitlog/00000000000000000000 at 1604: the record's unit leads elsewhere: T queue 0 offset 2",
			}, true, "",
		},
		"a unit's size changed": {
			func(b *builder, r []store.PutResult) {
				b.overwrite("consumequeue/T/0/00000000000000000000", 48, "\x00\x00\x00\x07")
			},
			[]string{"damage consumequeue/T/0/00000000000000000000 at 40: the unit says 7 bytes, its record at 1604 has"}, true, "",
		},
		"a tagsCode changed": {
			func(b *builder, r []store.PutResult) { b.overwrite("consumequeue/T/0/00000000000000000000", 52, i8(9)) },
			[]string{"damage consumequeue/T/0/00000000000000000000 at 40: the unit's tagsCode 9 does not belong to its record at 1604"}, true, "",
		},
		"a due instant lost": {
			func(b *builder, r []store.PutResult) {
				b.overwrite("consumequeue/SCHEDULE_TOPIC_XXXX/1/00000000000000000000", 12, i8(0))
			},
			[]string{"damage consumequeue/SCHEDULE_TOPIC_XXXX/1/00000000000000000000 at 0: the unit's tagsCode 0 does not belong"}, true, "",
		},
		"units zeroed in the middle": {
			func(b *builder, r []store.PutResult) {
				b.overwrite("consumequeue/T/0/00000000000000000000", 100, strings.Repeat("\x00", 20))
			},
			[]string{"damage consumequeue/T/0/00000000000000000000 at 100: the unit is empty, others follow"}, true, "",
		},
		"many units zeroed": {
			func(b *builder, r []store.PutResult) {
				b.overwrite("consumequeue/T/0/00000000000000000000", 100, strings.Repeat("\x00", 60))
				for i := range 30 {
					b.overwrite("consumequeue/T/1/00000000000000000000", int64(i)*40, i8(1))
				}
			},
			[]string{"at 100: the unit is empty, others follow, and the same up to offset 7", "more of the same"}, true, "",
		},
		"a queue ahead of the log": {
			func(b *builder, r []store.PutResult) {
				b.overwrite("consumequeue/T/0/00000000000000010000", 50*20, i8(1<<20)+"\x00\x00\x01\x00"+i8(0))
				b.write("abort", "1")
			},
			[]string{"left over consumequeue/T/0/00000000000000010000 at 1000: the unit leads to 1048576, past the end of the log at"}, false, "cut 1 units that lead past the end",
		},
		"a checkpoint ahead of the log": {
			func(b *builder, r []store.PutResult) {
				b.overwrite("checkpoint", 40, i8(1<<30))
				b.write("abort", "1")
			},
			[]string{
				"damage commitlog/00000000000000393216 at ",
				"damage checkpoint at 40: logicsPhysicalOffset is 1073741824, the log ends at",
			}, true, "",
		},
		"no checkpoint": {
			func(b *builder, r []store.PutResult) { b.remove("checkpoint") },
			[]string{"left over checkpoint at 0: is missing: the whole log is read"}, false, "",
		},
		"an offset past its queue": {
			func(b *builder, r []store.PutResult) {
				b.write("config/consumerOffset.json", `{"offsetTable":{"T@G":{0:551},"Gone@G":{3:1}}}`)
				b.write("config/delayOffset.json", `{"offsetTable":{2:4}}`)
			},
			[]string{
				"left over config/consumerOffset.json at 0: Gone@G queue 3 is at 1, the queue ends at 0",
				"left over config/consumerOffset.json at 0: T@G queue 0 is at 551, the queue ends at 550",
				"left over config/delayOffset.json at 0: level 2 queue 1 is at 4, the queue ends at 3",
			}, false, "",
		},
		"unreadable topics": {
			func(b *builder, r []store.PutResult) { b.write("config/topics.json", "{") },
			[]string{"damage config/topics.json at 0: cannot be read"}, true, "",
		},
		"unreadable offsets with a copy": {
			func(b *builder, r []store.PutResult) {
				b.write("config/consumerOffset.json", "")
				b.write("config/consumerOffset.json.bak", `{"offsetTable":{}}`)
			},
			[]string{"damage config/consumerOffset.json at 0: cannot be read"}, true, "",
		},
		"a store that is not supported": {
			func(b *builder, r []store.PutResult) { b.write("dledger-n0/data", "x") },
			nil, false, "refuse the directory: it has a DLedger log (dledger-n0)",
		},
		"all queues of a topic": {
			func(b *builder, r []store.PutResult) { b.remove("consumequeue/T") },
			[]string{"damage commitlog/00000000000000000000 at 0: the records have no units: T queue 0 offsets 0 to 549", "T queue 1 offsets 0 to 549"}, true, "put 1100 records into their queues",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, records := sample(t)
			b.close()
			c.damage(b, records)
			before := b.fingerprint()
			r := check(t, b)
			if after := b.fingerprint(); after != before {
				t.Error("the check changed the directory")
			}
			var text strings.Builder
			if _, err := r.WriteTo(&text); err != nil {
				t.Fatal(err)
			}
			rest := strings.Join(strings.Fields(text.String()), " ")
			for _, want := range c.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("%q is missing in\n%s", want, &text)
				}
				rest = after
			}
			if r.Damaged != c.damaged || !strings.Contains(rest, c.next) || len(r.Recovery) == 0 {
				t.Errorf("damaged %v, want %v and %q in\n%s", r.Damaged, c.damaged, c.next, &text)
			}
		})
	}
}

// TestCheck_TopicMadeAnew has a topic's first life in the log, whose records lack their units by
// right: the queue is the second life's.
func TestCheck_TopicMadeAnew(t *testing.T) {
	t.Parallel()
	b, _ := sample(t)
	b.plain("Again", 9)
	if err := b.s.DeleteTopic("Again"); err != nil {
		t.Fatal(err)
	}
	b.plain("Again", 3)
	b.write("config/topics.json", `{"topicConfigTable":{"T":{},"Again":{}}}`)
	b.close()
	// The real broker leaves no note of what it deleted.
	notes, err := os.ReadFile(filepath.Join(b.dir, "config/wheelmqStore.json"))
	if err != nil {
		t.Fatal(err)
	}
	b.write("config/wheelmqStore.json", regexp.MustCompile(`,"deleted":\{[^}]*\}`).ReplaceAllString(string(notes), ""))
	if r := check(t, b); r.Damaged || len(r.Findings) > 0 || r.Records != 1115 {
		t.Errorf("got %+v", r)
	}
}

// TestCheck_Index damages the index: units, slots, the header.
func TestCheck_Index(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at      int64 // in the file; slots begin at 40, units behind 993 slots
		content string
		want    string
		damaged bool
	}{
		"a unit's offset":  {40 + 993*4 + 20 + 4, i8(7), "unit 1 leads to 7, where no record with its key is", true},
		"a unit's hash":    {40 + 993*4 + 20, "\x00\x00\x00\x01", "unit 1 leads to 0, where no record with its key is", true},
		"a unit forward":   {40 + 993*4 + 20 + 16, "\x00\x00\x00\x09", "unit 1 leads forward to unit 9", true},
		"past the log":     {40 + 993*4 + 20*1100 + 4, i8(1 << 40), "unit 1100 leads to 1099511627776, past the end of the log", false},
		"the header":       {36, "\x7f\x00\x00\x00", "the header counts 2130706432 units, the file has room for 3975", true},
		"a slot":           {40, "\x00\x00\x00\x01", "slot 0 leads to unit 1, whose key belongs to slot", true},
		"a slot too large": {40, "\x00\x00\x10\x00", "slot 0 leads to unit 4096, the last is 1100", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := sample(t)
			b.close()
			files, err := filepath.Glob(filepath.Join(b.dir, "index", "*"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			b.overwrite("index/"+filepath.Base(files[0]), c.at, c.content)
			r := check(t, b)
			found := false
			for _, f := range r.Findings {
				found = found || strings.Contains(f.What, c.want) && strings.HasPrefix(f.File, "index/")
			}
			if !found || r.Damaged != c.damaged {
				t.Errorf("damaged %v, want %v and %q in %+v", r.Damaged, c.damaged, c.want, r.Findings)
			}
		})
	}
}
