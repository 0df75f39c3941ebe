package compat

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
)

// TestCleanRestart_KeepsOffsetsAndPendingDelays stops the server with SIGTERM
// while delayed messages wait; one of the delays ends while it is down or soon
// after. A new member of the group gets the delayed messages and nothing that
// was consumed before; a member of another group lives through the restart and
// gets each once: the server counts it in until its next heartbeat. With the real
// broker it gives its queues back when it divides them before that (the Go client
// takes "no consumer for this group" for nobody), loses what it had not committed
// of all but one of them, and gets that again.
func TestCleanRestart_KeepsOffsetsAndPendingDelays(t *testing.T) {
	t.Parallel()
	server := peer.StartTarget(t, nil)
	l := newLabOn(t, server, 2)
	through := *l
	through.group = suite.Name(t, "through")
	p := l.producer(t)

	before := l.consume(t)
	living := through.consume(t)
	plain := numbered("plain", 20)
	for i := range plain {
		send(t, p, l.message("plain %d", i))
	}
	before.wantOnce(t, plain...)
	living.wantOnce(t, plain...)
	l.committed(t, len(plain))
	before.close(t)

	begin := make(map[string]time.Time)
	var delayed []string
	for _, level := range []int{1, 2, 3, 4} {
		for i := range 3 {
			body := fmt.Sprintf("delayed %d of level %d", i, level)
			begin[body] = time.Now()
			delayed = append(delayed, body)
			send(t, p, l.message("%s", body).WithDelayTimeLevel(level))
		}
	}
	server.Restart()
	t.Logf("down and up again %v after the last send", time.Since(begin[delayed[len(delayed)-1]]).Round(time.Millisecond))

	after := l.consume(t)
	after.wait(t, len(delayed))
	suite.Eventually(t, limit, "the living member gets everything", func() bool {
		return consumedOf(delayed, living.counts()) == len(delayed)
	})
	for name, box := range map[string]*inbox{"new member": after, "living member": living} {
		counts := box.counts()
		for _, body := range delayed {
			if counts[body] < 1 || counts[body] > 1 && (name == "new member" || peer.TargetKind() == peer.Ours) {
				t.Errorf("%s: %q arrived %d times, want once", name, body, counts[body])
			}
		}
		for _, a := range box.all() {
			var level, i int
			if _, err := fmt.Sscanf(string(a.Body), "delayed %d of level %d", &i, &level); err != nil {
				continue
			}
			if waited := a.at.Sub(begin[string(a.Body)]); waited < delayOf(level) {
				t.Errorf("%s: %q arrived after %v, before its %v", name, a.Body, waited, delayOf(level))
			}
		}
	}
	for body := range after.counts() {
		if strings.HasPrefix(body, "plain") {
			t.Errorf("%q was consumed before the restart and arrived again", body)
		}
	}
	if got := l.rewire(t).stored(t); got != int64(len(plain)+len(delayed)) {
		t.Errorf("%d messages are in the topic, want %d", got, len(plain)+len(delayed))
	}

	send(t, p, l.message("the old producer goes on"))
	suite.Eventually(t, limit, "the old producer reaches the living member", func() bool {
		return living.counts()["the old producer goes on"] > 0
	})
}
