package schedule_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/message"
)

// tables are level tables that replace one another: levels are raised, lowered, added, removed.
var tables = []string{"1s 3s 1d", "3s 1s", "1d 2s 1s 4s", "2s", "1s 1s 1s 1s 1s 1s"}

// TestService_AnySequence_DeliversOnceInTime sends at random levels while the clock jumps, a
// target refuses for a while, and the service restarts or is killed, each time with another
// level table. The model is the list of due instants: whatever is due is delivered, wherever in
// its queue it lies; nothing comes early, twice or never.
func TestService_AnySequence_DeliversOnceInTime(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		l := newLabIn(rt, filepath.Join(root, strconv.Itoa(run)))
		l.sync = rapid.Bool().Draw(rt, "sync")
		l.window = rapid.SampledFrom([]int{0, 3, 2000}).Draw(rt, "window")
		l.open()
		defer func() { l.close() }()
		m := model{lab: l, due: map[string]int64{}, topic: map[string]string{}, saves: []string{""}}
		rt.Repeat(map[string]func(*rapid.T){
			"send": m.send, "send many": m.sendMany, "wait": m.wait, "refuse": m.refuse,
			"restart": m.restart, "kill": m.kill, "cut the power": m.cutPower,
		})
		m.accept()
		m.wantDelivered(rt)
		m.wantCounted()
		l.clock.Set(l.clock.NowMillis() + 2*86_400_000)
		m.wantDelivered(rt)
		m.wantOnceAndNotEarly(rt)
	})
}

// model is what a lab must do.
type model struct {
	*lab
	due     map[string]int64 // instant by body, ms
	topic   map[string]string
	sent    int
	refused bool
	saves   []string // what delayOffset.json ever held
}

func (m *model) send(rt *rapid.T) {
	m.sent++
	body := strconv.Itoa(m.sent)
	level := rapid.IntRange(1, len(m.levels)).Draw(rt, "level")
	m.due[body] = m.clock.NowMillis() + m.levels.DelayMs(int64(level))
	m.topic[body] = fmt.Sprintf("T%d", rapid.IntRange(0, 1).Draw(rt, "topic"))
	m.put(m.topic[body], level, body)
}

func (m *model) sendMany(rt *rapid.T) {
	for range rapid.IntRange(1, 30).Draw(rt, "messages") {
		m.send(rt)
	}
}

func (m *model) wait(rt *rapid.T) {
	m.clock.Set(m.clock.NowMillis() + rapid.Int64Range(1, 2500).Draw(rt, "ms"))
	m.wantDelivered(rt)
	m.wantCounted()
	m.remember()
}

// refuse lets one target refuse for some time, or accept again.
func (m *model) refuse(*rapid.T) {
	if m.refused {
		m.accept()
		return
	}
	topicName := "T1"
	m.lab.refuse.Store(&topicName)
	m.refused = true
}

// accept ends a refusal and the wait that it led to.
func (m *model) accept() {
	m.lab.refuse.Store(nil)
	m.refused = false
	m.clock.Set(m.clock.NowMillis() + 10_000)
}

func (m *model) restart(rt *rapid.T) {
	m.close()
	m.table = rapid.SampledFrom(tables).Draw(rt, "table")
	m.open()
	m.remember()
}

// kill leaves the file of an earlier save, or none, beside the log of now.
func (m *model) kill(rt *rapid.T) {
	m.close()
	m.leave(m.saves[rapid.IntRange(0, 1<<20).Draw(rt, "save")%len(m.saves)])
	m.table = rapid.SampledFrom(tables).Draw(rt, "table")
	m.open()
}

// cutPower leaves of the log what was synced and some of the rest. Under SYNC_FLUSH that is
// every message; what is lost otherwise is lost with all that lies behind it.
func (m *model) cutPower(rt *rapid.T) {
	if m.refused {
		return
	}
	m.wantDelivered(rt) // nobody writes to the disk
	m.remember()
	disk := m.disk.PowerCut(rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)))
	m.close()
	m.disk = disk
	m.leave(m.saves[len(m.saves)-1])
	m.open()
	left := map[string]int64{}
	if err := m.store.Scan(0, func(v *message.View) error {
		if string(v.Topic) == message.TopicSchedule {
			left[string(v.Body)] = m.due[string(v.Body)]
		}
		return nil
	}); err != nil {
		rt.Fatal(err)
	}
	if m.sync && len(left) < len(m.due) {
		rt.Fatalf("%d messages that were durable are lost", len(m.due)-len(left))
	}
	m.due = left
}

// leave puts an earlier save in the place of the file, or nothing.
func (l *lab) leave(save string) {
	l.t.Helper()
	for _, path := range []string{l.file(), l.file() + ".bak"} {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			l.t.Fatal(err)
		}
	}
	if save == "" {
		return
	}
	if err := os.WriteFile(l.file(), []byte(save), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) file() string { return filepath.Join(l.dir, "config", "delayOffset.json") }

func (m *model) remember() {
	b, err := os.ReadFile(m.file())
	if err == nil && string(b) != m.saves[len(m.saves)-1] {
		m.saves = append(m.saves, string(b))
	}
}

// wantDelivered waits for all that is due and not refused.
func (m *model) wantDelivered(rt *rapid.T) {
	if m.refused {
		return
	}
	var n int64
	for _, at := range m.due {
		if at <= m.clock.NowMillis() {
			n++
		}
	}
	m.await(fmt.Sprintf("delivery of %d messages", n), func() bool { return m.count("T0")+m.count("T1") >= n })
}

// wantCounted waits until the service counts by topic what pends, and nothing else.
func (m *model) wantCounted() {
	if m.refused {
		return
	}
	want := map[string]int64{}
	for body, at := range m.due {
		if at > m.clock.NowMillis() {
			want[m.topic[body]]++
		}
	}
	m.await(fmt.Sprintf("counts by topic %v", want), func() bool {
		got := m.service.PendingOf()
		return got["T0"] == want["T0"] && got["T1"] == want["T1"]
	})
}

func (m *model) wantOnceAndNotEarly(rt *rapid.T) {
	left := maps.Clone(m.due)
	for _, v := range append(m.read("T0"), m.read("T1")...) {
		at, sent := left[v.body]
		if !sent {
			rt.Errorf("message %s is delivered twice or was never sent", v.body)
		}
		if v.stored < at {
			rt.Errorf("message %s was due at %d and is stored at %d", v.body, at, v.stored)
		}
		delete(left, v.body)
	}
	if len(left) > 0 {
		rt.Errorf("%d messages are lost", len(left))
	}
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
	l.await("the group commit", func() bool {
		return l.store.Queue([]byte(rec.Topic), rec.QueueID).Max() > rec.QueueOffset
	})
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

// TestService_OffsetFile has every state of delayOffset.json that a start may find. Five
// messages were delivered before it, five pend. What was delivered is recognised in the log;
// only a table of the real broker's that is ahead of the queue is believed.
func TestService_OffsetFile(t *testing.T) {
	t.Parallel()
	zeros := string(make([]byte, 100))
	for name, c := range map[string]struct {
		file, bak string
		want      int64 // messages in the topic after the restart
	}{
		"as saved":                  {"keep", "", 10},
		"missing":                   {"", "", 10},
		"corrupt with a backup":     {"{", `{"offsetTable":{"1":3}}`, 10},
		"corrupt":                   {"{", "", 10},
		"zero bytes":                {zeros, zeros, 10},
		"the real broker's":         {"{\n\t\"dataVersion\":{\"counter\":34},\n\t\"offsetTable\":{\n\t\t1:4,\n\t\t18:0\n\t}\n}", "", 10},
		"the real broker's, ahead":  {`{"offsetTable":{"1":99999,"2":99999}}`, "", 5},
		"ahead":                     {`{"offsetTable":{"1":99999,"2":99999},"copiesFrom":1}`, "", 10},
		"behind":                    {`{"offsetTable":{"1":-7}}`, "", 10},
		"copies ahead of the log":   {`{"offsetTable":{"1":5,"2":0},"copiesFrom":99999999}`, "", 10},
		"copies at no record":       {`{"offsetTable":{"1":5,"2":0},"copiesFrom":77}`, "", 10},
		"stretches that make none":  {`{"offsetTable":{"1":5,"2":0},"copiesFrom":0,"pending":{"2":[[3,1],[-1,9]]}}`, "", 10},
		"stretches of another time": {`{"offsetTable":{"1":5,"2":0},"pending":{"2":[[0,99],[100,100]]}}`, "", 10},
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
			if c.file != "keep" {
				l.leave(c.file)
			}
			if c.bak != "" {
				if err := os.WriteFile(l.file()+".bak", []byte(c.bak), 0o600); err != nil {
					t.Fatal(err)
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
	l := newLabIn(b, b.TempDir())
	l.fileSize = 64 << 20
	l.open()
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
