package cases

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestPop_WaitsForMessages has a pop and a notification wait.
func TestPop_WaitsForMessages(t *testing.T) {
	t.Parallel()
	c, other := dialBroker(t), dialBroker(t)
	topic, group := filled(t, c, 2, 0)
	// Nobody waits for so long: what is answered was woken.
	const poll = 2 * time.Minute
	p := wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue, Poll: poll}
	wait := func(do func(ctx context.Context) (*wire.Frame, error)) <-chan *wire.Frame {
		done := make(chan *wire.Frame, 1)
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), wire.Timeout)
			defer cancel()
			answer, err := do(ctx)
			if err != nil {
				t.Error(err)
			}
			done <- answer
		}()
		return done
	}
	pop := wait(func(ctx context.Context) (*wire.Frame, error) {
		got, err := other.Pop(ctx, p)
		return got.Frame, err
	})
	polling := func() string {
		return c.Call(t, wire.PollingInfo, map[string]string{"consumerGroup": group, "topic": topic, "queueId": "-1"}, nil).Ext["pollingNum"]
	}
	suite.Eventually(t, slow, "a pop is held", func() bool { return polling() == "1" })
	c.MustSend(t, wire.Send{Topic: topic, QueueID: 1, Body: []byte("a")})
	if answer := <-pop; answer == nil || answer.Code != wire.Success || answer.Ext["msgOffsetInfo"] != "0 1 0" {
		t.Errorf("the pop: %v", answer)
	}
	notified := wait(func(ctx context.Context) (*wire.Frame, error) { return other.Notify(ctx, p) })
	time.Sleep(300 * time.Millisecond)
	c.MustSend(t, wire.Send{Topic: topic, QueueID: 0, Body: []byte("b")})
	if answer := <-notified; answer == nil || answer.Code != wire.Success || answer.Ext["hasMsg"] != "true" || answer.Ext["pollingFull"] != "false" {
		t.Errorf("the notification: %v", answer)
	}
	peeked := c.Peek(t, wire.Pop{Group: group, Topic: topic, QueueID: wire.AnyQueue})
	wantCode(t, "peek", peeked.Frame, wire.Success)
	if bodies := popped(peeked); !slices.Equal(bodies, []string{"b"}) || peeked.RestNum != 1 {
		t.Errorf("peek: %q, %v", bodies, peeked.Frame)
	}
	p.Poll = time.Second
	wantPopped(t, "after a peek", c.MustPop(t, p), "b")
	begin := time.Now()
	empty := c.MustPop(t, p)
	wantPopped(t, "nothing", empty)
	if took := time.Since(begin); took < 900*time.Millisecond {
		t.Errorf("answered after %v, want after a second", took)
	}
	for name, want := range map[string]string{"startOffsetInfo": "", "msgOffsetInfo": "", "invisibleTime": "60000", "restNum": "0"} {
		if got, there := empty.Ext[name]; !there || got != want {
			t.Errorf("nothing: %s is %q %v, want %q", name, got, there, want)
		}
	}
}
