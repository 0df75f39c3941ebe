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

// patience is how long a turn may take: days of millions of timers are split on the way, and a server
// says after 45 seconds that it is not finished.
const patience = 20 * time.Minute

// advance turns it on by a duration; what is due then is delivered when it returns where the clock
// stands, ms. GET /test/clock would count all that pends, one by one.
func (c *turner) advance(d time.Duration) int64 {
	c.t.Helper()
	var moved struct {
		NowMs int64 `json:"nowMs"`
	}
	path := fmt.Sprintf("/test/clock/advance?ms=%d", d.Milliseconds())
	if status := c.ask(path, &moved); status == http.StatusRequestTimeout {
		return c.settle()
	}
	return moved.NowMs
}

// settle waits until all is delivered that is due where the clock stands.
func (c *turner) settle() int64 {
	c.t.Helper()
	var moved struct {
		NowMs int64 `json:"nowMs"`
	}
	for deadline := time.Now().Add(patience); c.ask("/test/clock/advance?ms=0", &moved) == http.StatusRequestTimeout; {
		if time.Now().After(deadline) {
			c.t.Fatalf("what is due is not delivered in %v", patience)
		}
	}
	return moved.NowMs
}

// until turns it on to an instant, ms, by ten minutes a request, and has retention look meanwhile.
func (c *turner) until(at int64) {
	c.t.Helper()
	const step = int64(10 * time.Minute / time.Millisecond)
	for now := c.now(); now < at; {
		now = c.advance(time.Duration(min(step, at-now)) * time.Millisecond)
		expire(c.t, c.target)
	}
}

// ask posts a request, decodes its answer and returns its status: 200, or 408 for a server that is
// not finished.
func (c *turner) ask(path string, answer any) (status int) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, "http://"+c.target.HTTPAddr+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	switch {
	case err == nil && reply.StatusCode == http.StatusRequestTimeout:
	case err != nil || reply.StatusCode != http.StatusOK:
		c.t.Fatalf("%s: %s %s (%v)", path, reply.Status, text, err)
	default:
		if err := json.Unmarshal(text, answer); err != nil {
			c.t.Fatalf("%s: %v in %s", path, err, text)
		}
	}
	return reply.StatusCode
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
