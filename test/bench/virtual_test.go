package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// turner turns the clock of a server whose clock is virtual.
type turner struct {
	t      *testing.T
	target *peer.Target
}

// now is where the clock stands, ms.
func (c *turner) now() int64 {
	c.t.Helper()
	return c.advance(0)
}

// advance turns it on by a duration; what is due then is delivered when it returns where the clock
// stands, ms. GET /test/clock would count all that pends, one by one.
func (c *turner) advance(d time.Duration) int64 {
	c.t.Helper()
	var moved struct {
		NowMs int64 `json:"nowMs"`
	}
	c.ask(http.MethodPost, fmt.Sprintf("/test/clock/advance?ms=%d", d.Milliseconds()), &moved)
	return moved.NowMs
}

// until turns it on to an instant, ms, by ten minutes a request, and has retention look meanwhile.
func (c *turner) until(at int64) {
	c.t.Helper()
	const step = int64(10 * time.Minute / time.Millisecond)
	for now := c.now(); now < at; now = min(now+step, at) {
		c.advance(time.Duration(min(step, at-now)) * time.Millisecond)
		expire(c.t, c.target)
	}
}

func (c *turner) ask(method, path string, answer any) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, "http://"+c.target.HTTPAddr+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		c.t.Fatalf("%s %s: %s %s (%v)", method, path, reply.Status, text, err)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		c.t.Fatalf("%s %s: %v in %s", method, path, err, text)
	}
}

// deleteExpired is the request code of mqadmin's deleteExpiredCommitLog.
const deleteExpired = 329

// expire has retention delete the log files whose time is up.
func expire(t *testing.T, target *peer.Target) {
	t.Helper()
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	if got := c.Call(t, deleteExpired, nil, nil); got.Code != wire.Success {
		t.Fatalf("deleteExpiredCommitLog: %d %s", got.Code, got.Remark)
	}
}

// awaitTakenIn waits until the server has taken every timer out of the queue.
func awaitTakenIn(t *testing.T, target *peer.Target) {
	t.Helper()
	for metric(t, target, "rocketmq_timer_enqueue_lag") > 0 {
		time.Sleep(20 * time.Millisecond)
	}
}

// pendingOf is the metric of a topic's pending timers.
func pendingOf(topic string) string { return fmt.Sprintf("rocketmq_timing_messages{topic=%q}", topic) }
