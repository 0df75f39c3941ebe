package interchange

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// manyTimers is how many wait while a store changes hands.
const manyTimers = 10_000

// rolled makes the real broker's wheel put every timer that is more than so many seconds ahead back
// into its queue, several times.
const rolled = "20"

// timers are any-time delayed messages that a server has accepted.
type timers struct {
	due       map[string]int64 // the instant, ms, or for a relative delay what it is not before; by body
	cancelled map[string]bool
}

func timerConf() map[string]string {
	conf := configuration()
	conf["timerRollWindowSlot"] = rolled
	return conf
}

// sendTimers sends n timers that are due within a span from an instant on, in milliseconds, over
// several connections: absolute and relative ones, of which some are cancelled.
func (w *writer) sendTimers(t *testing.T, n int, from time.Time, span time.Duration) timers {
	t.Helper()
	const senders = 8
	var mu sync.Mutex
	var wg sync.WaitGroup
	all := timers{due: make(map[string]int64), cancelled: make(map[string]bool)}
	first := w.sent
	w.sent += n
	for s := range senders {
		wg.Go(func() {
			c := wire.Dial(t, w.server.BrokerAddr)
			for i := first + s; i < first+n; i += senders {
				due := from.UnixMilli() + int64(i-first)*span.Milliseconds()/int64(n)
				body := fmt.Sprintf("timer %d of %s", i, w.server.Kind)
				at, cancelled := sendTimer(t, c, i, due, body)
				mu.Lock()
				all.due[body] = at
				if cancelled {
					all.cancelled[body] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return all
}

// sendTimer sends one, and returns its earliest instant.
func sendTimer(t *testing.T, c *wire.Conn, i int, due int64, body string) (at int64, cancelled bool) {
	t.Helper()
	key := fmt.Sprintf("%032X", i)
	send := func(body, key string, properties ...string) {
		c.MustSend(t, wire.Send{Topic: "Orders", QueueID: i % 3, Body: []byte(body),
			Properties: wire.Properties(append(properties, "UNIQ_KEY", key, "TAGS", "Late")...)})
	}
	now := time.Now().UnixMilli()
	switch {
	case i%5 == 1:
		send(body, key, "TIMER_DELAY_MS", strconv.FormatInt(due-now, 10))
		return due, false
	case i%5 == 2:
		seconds := (due - now) / 1000
		send(body, key, "TIMER_DELAY_SEC", strconv.FormatInt(seconds, 10))
		return now + seconds*1000, false
	}
	send(body, key, "TIMER_DELIVER_MS", strconv.FormatInt(due, 10))
	if i%20 == 0 {
		// In the same second of the wheel.
		same := (due-1)/1000*1000 + 1
		send("cancel", "C"+key, "TIMER_DELIVER_MS", strconv.FormatInt(same, 10), "TIMER_DEL_UNIQKEY", key)
		return due, true
	}
	return due, false
}

// ordersEnds are where the queues of the timers' topic end.
func ordersEnds(t *testing.T, c *wire.Conn) (ends [3]int64) {
	t.Helper()
	for q := range ends {
		ends[q] = c.MaxOffset(t, "Orders", q)
	}
	return ends
}

// wantTimers waits until every timer has come, and fails the test when one came early, twice, or
// although it was cancelled.
func wantTimers(t *testing.T, c *wire.Conn, from [3]int64, want timers) {
	t.Helper()
	expected := int64(len(want.due) - len(want.cancelled))
	suite.Eventually(t, limit, fmt.Sprintf("%d timers are delivered", expected), func() bool {
		time.Sleep(200 * time.Millisecond)
		var n int64
		for q, end := range ordersEnds(t, c) {
			n += end - from[q]
		}
		return n >= expected
	})
	last := slices.Max(slices.Collect(maps.Values(want.due)))
	// What comes twice comes after a while.
	time.Sleep(max(0, time.Until(time.UnixMilli(last))) + 3*time.Second)
	arrived := make(map[string][]wire.Message)
	for q, offset := range from {
		for _, m := range c.PullAll(t, wire.Pull{Group: "look", Topic: "Orders", QueueID: q, Offset: offset}) {
			arrived[string(m.Body)] = append(arrived[string(m.Body)], m)
		}
	}
	wrong := 0
	report := func(format string, args ...any) {
		if wrong++; wrong <= 20 {
			t.Errorf(format, args...)
		}
	}
	for body, due := range want.due {
		copies := arrived[body]
		switch {
		case want.cancelled[body]:
			if len(copies) > 0 {
				report("%q arrived %d times, and was cancelled", body, len(copies))
			}
		case len(copies) != 1:
			report("%q arrived %d times, want once", body, len(copies))
		case copies[0].StoreTimestamp < due:
			report("%q arrived %d ms early", body, due-copies[0].StoreTimestamp)
		}
	}
	for body := range arrived {
		if _, ok := want.due[body]; !ok {
			report("%q arrived, which nobody has sent", body)
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d timers are wrong", wrong, len(want.due))
	}
}

// TestTimers_FromTheRealBroker hands a store with timers to WheelMQ, after a stop and after a kill,
// and back when all of them are delivered.
func TestTimers_FromTheRealBroker(t *testing.T) {
	peer.RequireJava(t)
	for _, kill := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed: %t", kill), func(t *testing.T) {
			n := manyTimers
			if kill {
				n /= 10
			}
			dir := peer.HomeDir(t)
			w := newWriter(t, peer.StartIn(t, peer.Real, dir, timerConf()))
			w.c.MustCreateTopic(t, "Orders", 3)
			want := w.sendTimers(t, n, time.Now().Add(75*time.Second), 30*time.Second)
			time.Sleep(2 * time.Second) // until its checkpoint has them
			from := ordersEnds(t, w.c)
			if kill {
				w.server.Kill()
			} else {
				w.server.Stop()
			}
			ours := peer.StartIn(t, peer.Ours, dir, timerConf())
			r := newWriter(t, ours)
			wantTimers(t, r.c, from, want)
			from = ordersEnds(t, r.c)
			ours.Stop()
			if _, err := os.Stat(filepath.Join(ours.StoreDir, "timerwheel")); !os.IsNotExist(err) {
				t.Errorf("the real broker is kept out although nothing waits: %v", err)
			}
			wantSound(t, ours.StoreDir)
			back := newWriter(t, peer.StartIn(t, peer.Real, dir, timerConf()))
			back.sent = w.sent
			wantTimers(t, back.c, from, back.sendTimers(t, 50, time.Now().Add(3*time.Second), 12*time.Second))
		})
	}
}

// TestTimers_ToTheRealBroker: the real broker refuses the store, and goes on with a copy.
func TestTimers_ToTheRealBroker(t *testing.T) {
	peer.RequireJava(t)
	dir := peer.HomeDir(t)
	ours := peer.StartIn(t, peer.Ours, dir, timerConf())
	w := newWriter(t, ours)
	w.c.MustCreateTopic(t, "Orders", 3)
	begin := ordersEnds(t, w.c)
	past := w.sendTimers(t, 100, time.Now().Add(2*time.Second), 2*time.Second)
	wantTimers(t, w.c, begin, past)
	from := ordersEnds(t, w.c)
	want := w.sendTimers(t, manyTimers, time.Now().Add(100*time.Second), 30*time.Second)
	ours.Stop()
	for _, snapshots := range []string{"false", "true"} {
		conf := brokerConf(t, ours.StoreDir)
		conf["timerWheelSnapshotFlush"] = snapshots
		printed := peer.Refuses(t, peer.Real, dir, conf)
		if !logged(t, dir, "Timer wheel length") {
			t.Errorf("the real broker ended with\n%s", printed)
		}
		if err := os.RemoveAll(filepath.Join(dir, "logs")); err != nil {
			t.Fatal(err)
		}
	}
	wantSound(t, ours.StoreDir)
	copied := peer.HomeDir(t)
	out, errs, code := command(t, "store", "export", "--to", filepath.Join(copied, "store"), ours.StoreDir)
	if code != 0 || !strings.Contains(out, fmt.Sprintf("%d messages wait", manyTimers)) {
		t.Fatalf("store export: exit code %d\n%s%s", code, out, errs)
	}
	wantSound(t, filepath.Join(copied, "store"))
	conf := timerConf()
	r := newWriter(t, peer.StartIn(t, peer.Real, copied, conf))
	wantTimers(t, r.c, from, want)
	r.server.Stop()
	again := newWriter(t, peer.StartIn(t, peer.Ours, copied, conf))
	again.sent, from = w.sent, ordersEnds(t, again.c)
	wantTimers(t, again.c, from, again.sendTimers(t, 50, time.Now().Add(2*time.Second), 3*time.Second))
}

// TestTimers_WithoutTheWheel has a real broker that delivers no timers between two servers that do.
func TestTimers_WithoutTheWheel(t *testing.T) {
	peer.RequireJava(t)
	for _, kind := range []string{peer.Real, peer.Ours} {
		t.Run(kind, func(t *testing.T) {
			dir := peer.HomeDir(t)
			w := newWriter(t, peer.StartIn(t, kind, dir, timerConf()))
			w.c.MustCreateTopic(t, "Orders", 3)
			want := w.sendTimers(t, 500, time.Now().Add(3*time.Second), 100*time.Second)
			time.Sleep(5 * time.Second)
			w.server.Stop()
			off := timerConf()
			off["timerWheelEnable"] = "false"
			between := newWriter(t, peer.StartIn(t, peer.Real, dir, off))
			between.c.MustCreateTopic(t, "Audit", 1)
			between.c.MustSend(t, wire.Send{Topic: "Audit", Body: []byte("plain")})
			between.server.Stop()
			r := newWriter(t, peer.StartIn(t, peer.Ours, dir, timerConf()))
			wantTimers(t, r.c, [3]int64{}, want)
		})
	}
}

// logged tells whether the real broker's log files below its home directory hold a text.
func logged(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "logs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		found = found || strings.Contains(string(content), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
