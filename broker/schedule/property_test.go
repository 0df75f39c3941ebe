package schedule_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/message"
)

// delays are the lab's levels, ms.
var delays = []int64{1000, 3000, 86_400_000}

// TestService_AnySequence_DeliversOnceAndNeverEarly sends at random levels while the clock
// jumps, a target refuses for a while and the service restarts.
func TestService_AnySequence_DeliversOnceAndNeverEarly(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		l := newLabIn(rt, filepath.Join(root, strconv.Itoa(run)))
		defer func() { l.close() }()
		due := map[string]int64{}
		refused := "T1"
		rt.Repeat(map[string]func(*rapid.T){
			"send": func(rt *rapid.T) {
				body := strconv.Itoa(len(due))
				level := rapid.IntRange(1, len(delays)).Draw(rt, "level")
				due[body] = l.clock.NowMillis() + delays[level-1]
				l.put(fmt.Sprintf("T%d", rapid.IntRange(0, 1).Draw(rt, "topic")), level, body)
			},
			"wait":   func(rt *rapid.T) { l.clock.Set(l.clock.NowMillis() + rapid.Int64Range(1, 2500).Draw(rt, "ms")) },
			"refuse": func(*rapid.T) { l.refuse.Store(&refused) },
			"accept": func(*rapid.T) { l.refuse.Store(nil) },
			"restart": func(*rapid.T) {
				l.close()
				l.open()
			},
		})
		l.refuse.Store(nil)
		for range 3 {
			l.clock.Set(l.clock.NowMillis() + delays[2])
		}
		l.await("delivery of everything", func() bool { return l.count("T0")+l.count("T1") >= int64(len(due)) })
		for _, v := range append(l.read("T0"), l.read("T1")...) {
			at, sent := due[v.body]
			if !sent {
				rt.Errorf("message %s is delivered twice or was never sent", v.body)
			}
			if v.stored < at {
				rt.Errorf("message %s was due at %d and is stored at %d", v.body, at, v.stored)
			}
			delete(due, v.body)
		}
		if len(due) > 0 {
			rt.Errorf("%d messages are lost", len(due))
		}
	})
}

// delivered is a message in its real topic.
type delivered struct {
	body   string
	stored int64 // ms
}

func (l *lab) put(topicName string, level int, body string) {
	l.t.Helper()
	props := message.PropertyAppend(nil, message.PropertyDelay, strconv.Itoa(level))
	rec := message.Record{Topic: topicName, QueueID: 2, Body: []byte(body), Properties: props}
	if _, _, err := l.appender.Put(&rec, appender.FromClient, nil); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) read(topicName string) []delivered {
	l.t.Helper()
	var list []delivered
	for offset := range l.count(topicName) {
		u, _ := l.store.Queue([]byte(topicName), 2).Unit(offset)
		slice, err := l.store.Record(u.CommitLogOffset, u.Size)
		if err != nil {
			l.t.Fatal(err)
		}
		v, err := message.Parse(slice.Bytes)
		if err != nil {
			l.t.Fatal(err)
		}
		list = append(list, delivered{string(v.Body), v.StoreTimestamp})
		slice.Release()
	}
	return list
}

// TestService_OffsetFile has every state of delayOffset.json that a start may find: what was
// delivered may come again, nothing that pends is lost.
func TestService_OffsetFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, bak string
		want      int64 // messages in the topic after the restart: 5 delivered before, 5 pending
	}{
		"as saved":              {"keep", "", 10},
		"missing":               {"", "", 15},
		"corrupt with a backup": {"{", `{"offsetTable":{"1":3}}`, 12},
		"corrupt":               {"{", "", 15},
		"the real broker's":     {"{\n\t\"dataVersion\":{\"counter\":34},\n\t\"offsetTable\":{\n\t\t1:4,\n\t\t18:0\n\t}\n}", "", 11},
		"ahead of the queue":    {`{"offsetTable":{"1":99999,"2":99999}}`, "", 5},
		"behind the queue":      {`{"offsetTable":{"1":-7}}`, "", 15},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			for i := range 5 {
				l.put("T", 1, strconv.Itoa(i))
				l.put("T", 2, strconv.Itoa(i))
			}
			l.clock.Set(startMs + 1000)
			l.await("level 1", func() bool { return l.count("T") == 5 })
			l.close()
			path := filepath.Join(l.dir, "config", "delayOffset.json")
			if c.file != "keep" {
				for file, content := range map[string]string{path: c.file, path + ".bak": c.bak} {
					if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
					if content == "" {
						continue
					}
					if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			l.clock.Set(startMs + 10_000)
			l.open()
			defer l.close()
			l.await("what pends", func() bool { return l.count("T") >= c.want })
			// A message that is sent now comes after whatever may still be on its way.
			for level := 1; level <= 2; level++ {
				l.put("Last", level, "x")
			}
			l.clock.Set(startMs + 20_000)
			l.await("the last ones", func() bool { return l.count("Last") == 2 })
			if n := l.count("T"); n != c.want {
				t.Errorf("%d messages are in the topic, want %d", n, c.want)
			}
		})
	}
}

// TestService_ManyDueAtOnce has more than one batch due at one instant, on two levels.
func TestService_ManyDueAtOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	const n = 1000
	for i := range n {
		l.put("T0", 1, strconv.Itoa(i))
		l.put("T1", 2, strconv.Itoa(i))
	}
	l.clock.Set(startMs + 3000)
	for _, name := range []string{"T0", "T1"} {
		l.await(name, func() bool { return l.count(name) == n })
		for i, v := range l.read(name) {
			if v.body != strconv.Itoa(i) {
				t.Fatalf("%s: message %d is %s: the order is lost", name, i, v.body)
			}
		}
	}
	for _, o := range l.service.Offsets() {
		if o.Delivered != n || o.Max != n {
			t.Errorf("progress %+v, want %d of %d", o, n, n)
		}
	}
}

// BenchmarkDeliver is a due message from its unit to the append of its copy.
func BenchmarkDeliver(b *testing.B) {
	l := newLab(b)
	defer l.close()
	body := string(make([]byte, 128))
	for range b.N {
		l.put("T", 1, body)
	}
	b.ReportAllocs()
	b.ResetTimer()
	l.clock.Set(startMs + 1000)
	l.await("delivery", func() bool { return l.count("T") == int64(b.N) })
}
