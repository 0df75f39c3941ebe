package schedule_test

import (
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
)

// TestService_ChangedTable sends one message on a level, restarts under another table, sends a
// second one a second later, and looks at which is delivered first, and when.
func TestService_ChangedTable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string
		levels        [2]int   // of the two messages
		dues          [2]int64 // ms after the start
	}{
		"lowered":         {"1s 1h", "1s 5s", [2]int{2, 2}, [2]int64{3_600_000, 6000}},
		"raised":          {"1s 5s", "1s 1h", [2]int{2, 2}, [2]int64{5000, 3_601_000}},
		"removed":         {"1s 5s 10s", "1s", [2]int{3, 1}, [2]int64{10_000, 2000}},
		"removed to last": {"1s 5s 10s", "2s", [2]int{3, 9}, [2]int64{10_000, 3000}},
		"added":           {"5s", "5s 1s", [2]int{1, 2}, [2]int64{5000, 2000}},
		"the same":        {"5s", "5s", [2]int{1, 1}, [2]int64{5000, 6000}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLabIn(t, t.TempDir())
			l.table = c.before
			l.open()
			l.put("T", c.levels[0], "first")
			l.close()
			l.clock.Set(startMs + 1000)
			l.table = c.after
			l.open()
			defer l.close()
			l.put("T", c.levels[1], "second")
			order := []int{0, 1}
			slices.SortFunc(order, func(a, b int) int { return int(c.dues[a] - c.dues[b]) })
			for n, i := range order {
				due := startMs + c.dues[i]
				l.deliversAt(due, "T", int64(n))
				if v := l.read("T")[n]; v.body != []string{"first", "second"}[i] || v.stored != due {
					t.Errorf("message %d is %q at +%d ms, want %q at +%d", n, v.body, v.stored-startMs,
						[]string{"first", "second"}[i], c.dues[i])
				}
			}
		})
	}
}

// deliversAt turns the clock to just before an instant and to it: the topic has so many messages
// before, and one more after.
func (l *lab) deliversAt(due int64, topicName string, before int64) {
	l.t.Helper()
	l.clock.Set(due - 1)
	// The store's flushes are armed later than that.
	l.await("arming", func() bool { at, armed := l.clock.Next(); return armed && at == due })
	if n := l.count(topicName); n != before {
		l.t.Fatalf("%d messages a millisecond before the next is due, want %d", n, before)
	}
	l.clock.Set(due)
	l.await("delivery", func() bool { return l.count(topicName) == before+1 })
}

// TestService_RemovedLevel_IsListed: tools and the saved offsets show it like the others.
func TestService_RemovedLevel_IsListed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 3, "in a day")
	l.close()
	l.table = "1s"
	l.open()
	if got := l.service.Offsets(); !slices.Equal(got, []schedule.LevelOffset{{Level: 3, Delivered: 0, Max: 1}}) {
		t.Errorf("progress %v, want level 3 with one message", got)
	}
	if e := l.said.LastEntry(); e == nil || e.Data["level"] != int64(3) || e.Data["messages"] != int64(1) {
		t.Errorf("the log says %v, want a warning about level 3", e)
	}
	if at, pending := l.service.Pinned(); at != 0 || !pending {
		t.Errorf("the log is pinned at %d, %v, want at its first record", at, pending)
	}
	l.clock.Set(startMs + 86_400_000)
	l.await("delivery", func() bool { return l.count("T") == 1 })
	l.await("progress", func() bool { _, pending := l.service.Pinned(); return !pending })
	l.close()
	l.open()
	defer l.close()
	if got := l.service.Offsets(); !slices.Equal(got, []schedule.LevelOffset{{Level: 3, Delivered: 1, Max: 1}}) {
		t.Errorf("progress after a restart %v, want all of level 3 delivered", got)
	}
}

// TestService_RecordsOfTheRealBroker carry no due instant of their own: their queue unit has it,
// or, after a rebuild that did not know the table, nothing but the level's delay tells.
func TestService_RecordsOfTheRealBroker(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tagsCode int64
		due      int64 // ms after the start
	}{
		"as queued":         {startMs + 7000, 7000},
		"after a rebuild":   {message.TagsHash([]byte("TagA")), 3000},
		"without any tags":  {0, 3000},
		"of a negated hash": {-5, 3000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLabIn(t, t.TempDir())
			l.tagsCode = func(topicName string, props []byte) int64 {
				if topicName == message.TopicSchedule {
					return c.tagsCode
				}
				return schedule.TagsCode(topicName, props)
			}
			l.open()
			defer l.close()
			props := message.PropertyAppend(nil, message.PropertyRealTopic, "T")
			props = message.PropertyAppend(props, message.PropertyRealQueueID, "2")
			props = message.PropertyAppend(props, message.PropertyDelay, "2")
			rec := message.Record{Topic: message.TopicSchedule, QueueID: 1, Body: []byte("x"), Properties: props}
			if _, _, err := l.appender.Put(&rec, appender.FromScheduler, nil); err != nil {
				t.Fatal(err)
			}
			l.deliversAt(startMs+c.due, "T", 0)
		})
	}
}

// TestService_Kill_ParksNothingTwice: a parked message is a copy like any other.
func TestService_Kill_ParksNothingTwice(t *testing.T) {
	t.Parallel()
	l := newLabIn(t, t.TempDir())
	l.park = true
	l.missing["Gone"] = true
	l.open()
	for i := range 5 {
		l.put("Gone", 1, strconv.Itoa(i))
		l.put("T", 1, strconv.Itoa(i))
	}
	l.clock.Set(startMs + 1000)
	parked := func() int64 {
		if q := l.store.Queue([]byte(message.TopicParked), 0); q != nil {
			return q.Max()
		}
		return 0
	}
	l.await("parking", func() bool { return parked() == 5 && l.count("T") == 5 })
	l.close()
	l.leave("")
	l.open()
	defer l.close()
	l.put("Last", 1, "x")
	l.clock.Set(startMs + 10_000)
	l.await("the last message", func() bool { return l.count("Last") == 1 })
	if parked() != 5 || l.count("T") != 5 {
		t.Errorf("%d messages are parked and %d delivered, want 5 and 5", parked(), l.count("T"))
	}
}

// hasty is a clock on which every look takes more than half a second.
type hasty struct {
	clock.Real
	looks atomic.Int64
}

func (h *hasty) NowMillis() int64 { return h.Real.NowMillis() + 600*h.looks.Add(1) }

// TestService_LongSearch_TellsHowFar it is, and finds everything.
func TestService_LongSearch_TellsHowFar(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	const n = 3000
	l.put("T", 3, "in a day")
	for i := range n {
		l.put("T", 1, strconv.Itoa(i))
	}
	l.clock.Set(startMs + 1000)
	l.await("delivery", func() bool { return l.count("T") == n })
	l.close()
	l.leave("")
	l.wire = &hasty{}
	l.open()
	defer l.close()
	if l.says(logrus.InfoLevel, "looking for delayed messages") == 0 {
		t.Error("the log does not say how far the search is")
	}
	if got := l.service.Offsets(); got[0].Delivered != n || l.says(logrus.InfoLevel, "are recognised") != 1 {
		t.Errorf("progress %v, want all of level 1", got)
	}
}
