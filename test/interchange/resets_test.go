package interchange

import (
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestResets has a reset that no client has followed yet outlive a restart of WheelMQ; the real
// broker reads the offsets, and passes over what is said about the reset.
func TestResets(t *testing.T) {
	peer.RequireJava(t)
	dir := peer.HomeDir(t)
	const topic, group, messages = "Resets", "ResetGroup", 3
	ours := peer.StartIn(t, peer.Ours, dir, configuration())
	c := wire.Dial(t, ours.BrokerAddr)
	c.MustCreateTopic(t, topic, 1)
	for range messages {
		c.MustSend(t, wire.Send{Topic: topic, Body: []byte("x")})
	}
	wire.Introduce(t, ours.BrokerAddr, group, topic)
	must := func(what string, answer *wire.Frame) {
		t.Helper()
		if answer.Code != wire.Success {
			t.Fatalf("%s: %v", what, answer)
		}
	}
	reset := func() {
		t.Helper()
		must("commit", c.Commit(t, group, topic, 0, messages))
		must("reset", c.Call(t, 222, map[string]string{"topic": topic, "group": group, "timestamp": "0", "isForce": "true"}, nil))
	}
	offset := func() int64 {
		t.Helper()
		answer := c.QueryOffset(t, group, topic, 0, nil)
		must("query", answer)
		return answer.Int64(t, "offset")
	}
	reset()
	ours.Restart()
	c = wire.Dial(t, ours.BrokerAddr)
	must("commit of the time before", c.Commit(t, group, topic, 0, messages))
	if got := offset(); got != 0 {
		t.Errorf("after a restart the offset is %d, want 0", got)
	}
	got := c.MustPull(t, wire.Pull{Group: group, Topic: topic, Offset: messages})
	if got.Frame.Code != wire.PullOffsetMoved || got.Frame.Remark != "OFFSET_RESET" || got.NextBeginOffset != 0 {
		t.Errorf("pull: %v", got.Frame)
	}
	ours.Stop()

	theirs := peer.StartIn(t, peer.Real, dir, configuration())
	c = wire.Dial(t, theirs.BrokerAddr)
	if got := offset(); got != 0 {
		t.Errorf("the real broker reads the offset as %d, want 0", got)
	}
	must("commit", c.Commit(t, group, topic, 0, 2))
	if got := offset(); got != 2 {
		t.Errorf("the real broker does not take a commit: %d", got)
	}
}
