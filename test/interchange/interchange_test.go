package interchange

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestStore_OpenedByTheOther has one server write and the other open, after a clean end and
// after kill -9.
func TestStore_OpenedByTheOther(t *testing.T) {
	peer.RequireJava(t)
	for _, c := range []struct {
		writer, reader string
		kill           bool
	}{
		{peer.Ours, peer.Real, false},
		{peer.Ours, peer.Real, true},
		{peer.Real, peer.Ours, false},
		{peer.Real, peer.Ours, true},
	} {
		end := "stopped"
		if c.kill {
			end = "killed"
		}
		t.Run(fmt.Sprintf("%s by %s, %s", c.writer, c.reader, end), func(t *testing.T) {
			t.Parallel()
			dir := peer.HomeDir(t)
			w := newWriter(t, peer.StartIn(t, c.writer, dir, configuration()))
			w.createTopics(t)
			w.plain(t, 500)
			w.drop(t)
			w.consume(t)
			wantFiles(t, w.server.StoreDir, 3)
			before := look(t, w.c, queues, positions)
			pending := w.pending(t, 3, len(delays))
			if c.kill {
				w.server.Kill()
			} else {
				w.server.Stop()
			}
			wantSound(t, w.server.StoreDir)
			r := newWriter(t, peer.StartIn(t, c.reader, dir, brokerConf(t, w.server.StoreDir)))
			before.wantSame(t, look(t, r.c, queues, positions))
			if _, ok := topics(t, r.c)[dropped]; ok {
				t.Error("the deleted topic is back")
			}
			// After a kill the real broker forgets an index file that is not full.
			if !c.kill || c.reader == peer.Ours {
				wantFound(t, r.c, w.keyed)
			}
			wantDelivered(t, r, before, pending)
		})
	}
}

// TestStore_PendingThroughBoth has delayed messages wait while the other server has the store
// for a moment: each keeps its instant.
func TestStore_PendingThroughBoth(t *testing.T) {
	peer.RequireJava(t)
	for _, c := range []struct{ writer, between string }{{peer.Ours, peer.Real}, {peer.Real, peer.Ours}} {
		t.Run(c.writer+", "+c.between+", "+c.writer, func(t *testing.T) {
			t.Parallel()
			dir := peer.HomeDir(t)
			w := newWriter(t, peer.StartIn(t, c.writer, dir, configuration()))
			w.createTopics(t)
			w.drop(t)
			w.plain(t, 20)
			before := look(t, w.c, queues[:6], nil)
			pending := w.pending(t, 2, len(delays))
			w.server.Stop()
			peer.StartIn(t, c.between, dir, brokerConf(t, w.server.StoreDir)).Stop()
			wantSound(t, w.server.StoreDir)
			r := newWriter(t, peer.StartIn(t, c.writer, dir, brokerConf(t, w.server.StoreDir)))
			before.wantSame(t, look(t, r.c, queues[:6], nil))
			wantDelivered(t, r, before, pending)
		})
	}
}

// TestStore_ThereAndBack takes one store from WheelMQ to the real broker and back, twice; each
// server adds to it, deletes a topic and makes it again, and delivers the delayed messages that
// the other accepted.
func TestStore_ThereAndBack(t *testing.T) {
	peer.RequireJava(t)
	t.Parallel()
	dir := peer.HomeDir(t)
	conf := configuration()
	var before contents
	var pending map[string]int
	var keys []keyed
	sent, killed := 0, false
	for turn, kind := range []string{peer.Ours, peer.Real, peer.Ours, peer.Real, peer.Ours} {
		w := newWriter(t, peer.StartIn(t, kind, dir, conf))
		w.sent = sent
		if turn == 0 {
			w.createTopics(t)
		} else {
			before.wantSame(t, look(t, w.c, queues, positions))
			wantDelivered(t, w, before, pending)
		}
		if kind == peer.Ours || !killed {
			wantFound(t, w.c, keys)
		}
		w.plain(t, 120)
		w.drop(t)
		w.consume(t)
		before = look(t, w.c, queues, positions)
		pending = w.pending(t, 2, 3)
		sent, keys = w.sent, append(keys, w.keyed...)
		// The second turn of each ends by a kill.
		if killed = turn == 2 || turn == 3; killed {
			w.server.Kill()
		} else {
			w.server.Stop()
		}
		wantSound(t, w.server.StoreDir)
		conf = brokerConf(t, w.server.StoreDir)
	}
}

// wantFiles makes sure that the test is about several log files.
func wantFiles(t *testing.T, store string, least int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(store, "commitlog", "*"))
	if err != nil || len(files) <= least {
		t.Fatalf("%d log files, want more than %d: %v", len(files), least, err)
	}
}

// wantDelivered waits until every pending message is in its queue, and fails the test when one
// came early or twice.
func wantDelivered(t *testing.T, r *writer, before contents, pending map[string]int) {
	t.Helper()
	due := dueTimes(t, r.c, pending)
	suite.Eventually(t, limit, fmt.Sprintf("%d pending messages are delivered", len(pending)), func() bool {
		time.Sleep(200 * time.Millisecond)
		return len(arrivals(t, r.c, before)) >= len(pending)
	})
	// Only when the server has nothing left to deliver has it delivered nothing twice.
	r.delivered(t)
	arrived := arrivals(t, r.c, before)
	for _, body := range slices.Sorted(maps.Keys(pending)) {
		copies := arrived[body]
		if len(copies) != 1 {
			t.Errorf("%q arrived %d times, want once", body, len(copies))
			continue
		}
		m := copies[0]
		if m.StoreTimestamp < due[body] {
			t.Errorf("%q arrived %d ms early", body, due[body]-m.StoreTimestamp)
		}
		if m.Properties["TAGS"] != "Late" || m.Properties["DELAY"] != fmt.Sprint(pending[body]) {
			t.Errorf("%q arrived with %v", body, m.Properties)
		}
	}
	for body := range arrived {
		if _, ok := pending[body]; !ok {
			t.Errorf("%q arrived, which nobody has sent", body)
		}
	}
}

// arrivals are the messages that came after what the other server served, by their bodies.
func arrivals(t *testing.T, c *wire.Conn, before contents) map[string][]wire.Message {
	t.Helper()
	arrived := make(map[string][]wire.Message)
	for _, q := range queues[:6] {
		for _, m := range c.PullAll(t, wire.Pull{Group: "look", Topic: q.topic, QueueID: q.id, Offset: before.max[q]}) {
			arrived[string(m.Body)] = append(arrived[string(m.Body)], m)
		}
	}
	return arrived
}

// dueTimes reads the instants, ms, from the pending records.
func dueTimes(t *testing.T, c *wire.Conn, pending map[string]int) map[string]int64 {
	t.Helper()
	due := make(map[string]int64)
	for level, delay := range delays {
		for _, m := range c.PullAll(t, wire.Pull{Group: "TOOLS_CONSUMER", Topic: wire.ScheduleTopic, QueueID: level}) {
			due[string(m.Body)] = m.StoreTimestamp + delay.Milliseconds()
			// WheelMQ counts from a moment before the record is stored, and says so.
			if own, err := strconv.ParseInt(m.Properties["__WMQ_DUE"], 10, 64); err == nil {
				due[string(m.Body)] = own
			}
		}
	}
	for body := range pending {
		if due[body] == 0 {
			t.Fatalf("%q is not in the schedule topic", body)
		}
	}
	return due
}
