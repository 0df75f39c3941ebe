package cases

import (
	"encoding/binary"
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

// Delays of the default levels.
const (
	delay2 = 5 * time.Second
	delay3 = 10 * time.Second
)

// TestKillWhileDelayedMessagesWait is case BR-05 (without timers): after a kill, pending
// messages were lost or the delay queue was replayed. What became due while the server was
// down comes at once; what did not waits as long as it would have.
func TestKillWhileDelayedMessagesWait(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, nil)
	c := wire.Dial(t, target.BrokerAddr)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 1)
	sentAt := make(map[string]time.Time)
	send := func(body, properties string) {
		sentAt[body] = time.Now()
		c.MustSend(t, wire.Send{Topic: topic, Body: []byte(body), Properties: properties})
	}
	for i := range 5 {
		send(fmt.Sprintf("plain %d", i), "")
	}
	join(t, c, group, topic)
	wantCode(t, "commit", c.Commit(t, group, topic, 0, 3), wire.Success)
	for i := range 5 {
		send(fmt.Sprintf("due while down %d", i), wire.Properties("DELAY", "3"))
	}
	send("due before", wire.Properties("DELAY", "2"))
	time.Sleep(delay2 + 2*time.Second)
	awaitSaved(t, target, group, topic, 3)
	send("due after", wire.Properties("DELAY", "3"))
	target.Kill()
	time.Sleep(delay3 - delay2 - time.Second)
	target.Launch()

	c = wire.Dial(t, target.BrokerAddr)
	answer := c.QueryOffset(t, group, topic, 0, nil)
	wantCode(t, "query after the restart", answer, wire.Success)
	if got := answer.Int64(t, "offset"); got != 3 {
		t.Errorf("the committed offset is %d, want 3", got)
	}
	got := make(map[string]int)
	for p := (wire.Pull{Group: group, Topic: topic, Suspend: slow}); len(got) < len(sentAt); {
		answer := c.MustPull(t, p)
		for _, m := range answer.Messages {
			body := string(m.Body)
			got[body]++
			if waited := time.Since(sentAt[body]); m.Properties["DELAY"] == "3" && waited < delay3 {
				t.Errorf("%q arrived after %v, before its time", body, waited)
			}
		}
		if answer.Code == wire.PullNotFound {
			t.Fatalf("nothing more within %v; there are %v", p.Suspend, got)
		}
		p.Offset = answer.NextBeginOffset
	}
	for body, n := range got {
		// The real broker repeats what it delivered since it saved its progress, up to 10 s.
		if n > 1 && target.Kind == peer.Ours {
			t.Errorf("%q is there %d times", body, n)
		}
	}
}

// awaitSaved waits until the offset of a group in queue 0 of a topic is on disk, which takes up to
// flushConsumerOffsetInterval.
func awaitSaved(t *testing.T, target *peer.Target, group, topic string, offset int64) {
	t.Helper()
	saved := regexp.MustCompile(fmt.Sprintf(`"%s":\s*\{\s*"?0"?:\s*%d\b`, regexp.QuoteMeta(topic+"@"+group), offset))
	suite.Eventually(t, slow, "the committed offset is saved", func() bool {
		content, err := os.ReadFile(filepath.Join(target.StoreDir, "config", "consumerOffset.json"))
		return err == nil && saved.Match(content)
	})
}

// TestStoreFromTheFuture is case BR-70: the wall clock was set back, and the broker did not
// start because its store was newer than now.
func TestStoreFromTheFuture(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, nil)
	c := wire.Dial(t, target.BrokerAddr)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	last := c.MustSend(t, wire.Send{Topic: topic, Body: []byte("before")})
	for round, leave := range []func(){target.Stop, target.Kill} {
		leave()
		setAhead(t, target.StoreDir, last.CommitLogOffset, time.Hour)
		target.Launch()

		c = wire.Dial(t, target.BrokerAddr)
		old, answer := c.View(t, last.CommitLogOffset)
		wantCode(t, "view", answer, wire.Success)
		if ahead := time.Until(time.UnixMilli(old.StoreTimestamp)); ahead < 30*time.Minute {
			t.Fatalf("the last message is %v ahead, the test did not set it", ahead)
		}
		begin := time.Now()
		late := fmt.Sprintf("in 1 s, round %d", round)
		c.MustSend(t, wire.Send{Topic: topic, Body: []byte(late), Properties: wire.Properties("DELAY", "1")})
		plain := c.MustSend(t, wire.Send{Topic: topic, Body: []byte("at once")})
		stored, answer := c.View(t, plain.CommitLogOffset)
		wantCode(t, "view", answer, wire.Success)
		if stored.StoreTimestamp < old.StoreTimestamp && target.Kind == peer.Ours {
			t.Errorf("store time went back by %d ms", old.StoreTimestamp-stored.StoreTimestamp)
		}
		p := wire.Pull{Group: suite.Name(t, "group"), Topic: topic, Offset: plain.QueueOffset, Suspend: slow}
		for arrived := false; !arrived; {
			got := c.MustPull(t, p)
			if got.Code != wire.Success {
				t.Fatalf("pull at %d: %v", p.Offset, got.Frame)
			}
			arrived = slices.Contains(bodies(got.Messages), late)
			p.Offset = got.NextBeginOffset
		}
		if waited := time.Since(begin); waited < time.Second {
			t.Errorf("a delay of 1 s ended after %v", waited)
		}
		last = plain
	}
}

// setAhead moves the store time of one message and of the checkpoint into the future.
func setAhead(t *testing.T, store string, commitLogOffset int64, by time.Duration) {
	t.Helper()
	const storeTimestamp = 56 // in a record with an IPv4 born host
	logFile := filepath.Join(store, "commitlog", fmt.Sprintf("%020d", 0))
	for _, at := range []struct {
		file   string
		offset int64
	}{
		{logFile, commitLogOffset + storeTimestamp},
		{filepath.Join(store, "checkpoint"), 0}, // of the log
		{filepath.Join(store, "checkpoint"), 8}, // of the queues
	} {
		f, err := os.OpenFile(at.file, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(time.Now().Add(by).UnixMilli()))
		if _, err := f.WriteAt(b[:], at.offset); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
