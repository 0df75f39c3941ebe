package cases

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// slow bounds what takes a delay, a start of a server or a round of a client's, also on a machine that
// is slow and stalls; only a failure waits for so long.
const slow = 2 * time.Minute

// delayLab is a server of its own, with a topic of one queue.
type delayLab struct {
	*peer.Target
	t     *testing.T
	topic string
}

func newDelayLab(t *testing.T, conf map[string]string) *delayLab {
	t.Helper()
	l := &delayLab{Target: peer.StartTarget(t, conf), t: t, topic: suite.Name(t, "topic")}
	l.dial().MustCreateTopic(t, l.topic, 1)
	return l
}

func (l *delayLab) dial() *wire.Conn { return wire.Dial(l.t, l.BrokerAddr) }

func (l *delayLab) send(level int, body string) {
	l.t.Helper()
	l.dial().MustSend(l.t, wire.Send{Topic: l.topic, Body: []byte(body), Properties: wire.Properties("DELAY", fmt.Sprint(level))})
}

func (l *delayLab) stored() int64 { return l.dial().MaxOffset(l.t, l.topic, 0) }

// await waits until the topic has so many messages.
func (l *delayLab) await(what string, n int64) {
	l.t.Helper()
	suite.Eventually(l.t, slow, what, func() bool { return l.stored() >= n })
}

// bodies are those of the topic's messages, sorted.
func (l *delayLab) bodies() []string {
	l.t.Helper()
	list := bodies(l.dial().PullAll(l.t, wire.Pull{Group: "delay-restart", Topic: l.topic}))
	slices.Sort(list)
	return list
}

func (l *delayLab) wantBodies(want ...string) {
	l.t.Helper()
	if got := l.bodies(); !slices.Equal(got, want) {
		l.t.Errorf("the topic holds %q, want %q", got, want)
	}
}

func (l *delayLab) offsets() string { return filepath.Join(l.StoreDir, "config", "delayOffset.json") }

// TestDelayOffsetAheadOfItsQueue is case BR-03: the level never delivered again.
func TestDelayOffsetAheadOfItsQueue(t *testing.T) {
	t.Parallel()
	l := newDelayLab(t, nil)
	l.send(1, "before")
	l.await("the first message", 1)
	l.Stop()
	saved, err := os.ReadFile(l.offsets())
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`"offsetTable":\s*\{[^}]*\}`)
	if !table.Match(saved) {
		t.Fatalf("saved offsets without a table: %s", saved)
	}
	edited := table.ReplaceAll(saved, []byte(`"offsetTable":{1:99999,2:99999}`))
	if err := os.WriteFile(l.offsets(), edited, 0o600); err != nil {
		t.Fatal(err)
	}
	l.Launch()
	l.send(2, "of level 2")
	l.send(1, "of level 1")
	l.await("both messages", 3)
	l.wantBodies("before", "of level 1", "of level 2")
}

// TestDelayOffsetFileOfZeros is case BR-04: what a power cut left of the file kept the broker
// from starting.
func TestDelayOffsetFileOfZeros(t *testing.T) {
	t.Parallel()
	l := newDelayLab(t, nil)
	l.send(1, "before")
	l.await("the first message", 1)
	l.Stop()
	if err := os.WriteFile(l.offsets(), bytes.Repeat([]byte{0}, 200), 0o600); err != nil {
		t.Fatal(err)
	}
	l.Launch()
	l.send(1, "of level 1")
	l.send(2, "of level 2")
	l.await("both messages", 3)
	l.wantBodies("before", "of level 1", "of level 2")
}

// TestDeliveredBeforeAKill_DoesNotComeAgain goes on from case BR-05: progress that was not saved
// is found in the log.
func TestDeliveredBeforeAKill_DoesNotComeAgain(t *testing.T) {
	t.Parallel()
	// The real broker saves its progress 10 s after its start, and then no more.
	l := newDelayLab(t, map[string]string{"flushDelayOffsetInterval": "3600000"})
	if l.Kind == peer.Real {
		suite.Eventually(t, slow, "the first save", func() bool { _, err := os.Stat(l.offsets()); return err == nil })
	}
	for i := range 3 {
		l.send(1, fmt.Sprintf("delivered %d", i))
	}
	l.send(2, "pending")
	l.await("what is due", 3)
	l.Kill()
	l.Launch()
	// Whatever comes again comes before this one.
	l.send(3, "last")
	suite.Eventually(t, slow, "the last message", func() bool { return slices.Contains(l.bodies(), "last") })
	got := l.bodies()
	for _, body := range []string{"delivered 0", "delivered 1", "delivered 2", "pending"} {
		if !slices.Contains(got, body) {
			t.Errorf("%q is lost", body)
		}
	}
	suite.Differs(t, "cases/delayed-before-a-kill", len(got) == 5, fmt.Sprintf("%q", got))
}

// TestLoweredDelayLevel_KeepsTheDueTime of what was sent before.
func TestLoweredDelayLevel_KeepsTheDueTime(t *testing.T) {
	t.Parallel()
	delay := 10 * time.Second
	if peer.TargetKind() == peer.Real {
		delay = time.Hour // longer than a restart takes
	}
	l := newDelayLab(t, map[string]string{"messageDelayLevel": fmt.Sprintf("1s %ds", delay/time.Second)})
	begin := time.Now()
	l.send(2, "under the old table")
	l.Stop()
	l.Set("messageDelayLevel", "1s 2s")
	l.Launch()
	l.send(2, "under the new table")
	suite.Eventually(t, slow, "the newer message", func() bool { return slices.Contains(l.bodies(), "under the new table") })
	both := func() bool { return l.stored() == 2 }
	if l.Kind == peer.Real {
		waited(slow, both)
	}
	early := both() && time.Since(begin) < delay
	suite.Differs(t, "cases/lowered-delay-level", !early, fmt.Sprintf("both delivered %v after the first was sent", time.Since(begin).Round(time.Second)))
	if !early {
		l.await("the older message", 2)
		if waited := time.Since(begin); waited < delay {
			t.Errorf("delivered after %v, before its %v", waited, delay)
		}
	}
}

// TestRemovedDelayLevel_IsDelivered although the table no longer has it.
func TestRemovedDelayLevel_IsDelivered(t *testing.T) {
	t.Parallel()
	suite.WithLead(t, 5*time.Second, func(delay time.Duration) bool {
		l := newDelayLab(t, map[string]string{"messageDelayLevel": fmt.Sprintf("1s %ds", delay/time.Second)})
		begin := time.Now()
		l.send(2, "of a level that goes")
		l.Stop()
		if time.Since(begin) >= delay {
			return false // it may have been delivered before the level went
		}
		l.Set("messageDelayLevel", "1s")
		l.Launch()
		if l.Kind == peer.Ours {
			l.await("the message", 1)
		} else {
			time.Sleep(time.Until(begin.Add(delay)) + 5*time.Second)
		}
		suite.Differs(t, "cases/removed-delay-level", l.stored() == 1, fmt.Sprintf("%d messages delivered", l.stored()))
		return true
	})
}
