package cases

import (
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// codeOffsetByTime is SEARCH_OFFSET_BY_TIMESTAMP.
const codeOffsetByTime = 29

// TestOffsetByTime holds the ends of a search: lower is the first message that was stored at an
// instant or later, upper the last one that was stored until then.
func TestOffsetByTime(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 2)
	const messages = 5
	for range messages {
		c.MustSend(t, wire.Send{Topic: topic, Body: []byte("x")})
		time.Sleep(5 * time.Millisecond) // they shall be stored at different instants
	}
	c.Settle(t, topic, 0, messages)
	var stored []int64
	for _, m := range c.PullAll(t, wire.Pull{Group: suite.Name(t, "group"), Topic: topic}) {
		stored = append(stored, m.StoreTimestamp)
	}
	if len(stored) != messages || stored[0]+1 >= stored[1] {
		t.Fatalf("stored at %v", stored)
	}
	search := func(at int64, boundary string, queue int) int64 {
		fields := map[string]string{"topic": topic, "queueId": strconv.Itoa(queue), "timestamp": strconv.FormatInt(at, 10)}
		if boundary != "" {
			fields["boundaryType"] = boundary
		}
		answer := c.Call(t, codeOffsetByTime, fields, nil)
		wantCode(t, "search", answer, wire.Success)
		return answer.Int64(t, "offset")
	}
	for _, tc := range []struct{ at, lower, upper int64 }{
		{0, 0, 0}, {stored[0] - 1, 0, 0}, {stored[0], 0, 0}, {stored[0] + 1, 1, 0}, {stored[1], 1, 1},
		{stored[4], 4, 4}, {stored[4] + 1, 5, 4}, {stored[4] + 3_600_000, 5, 4},
	} {
		for boundary, want := range map[string]int64{"": tc.lower, "lower": tc.lower, "upper": tc.upper} {
			if got := search(tc.at, boundary, 0); got != want {
				t.Errorf("boundary %q, %d ms after the first: %d, want %d", boundary, tc.at-stored[0], got, want)
			}
		}
	}
	if got := search(stored[0], "", 1); got != 0 {
		t.Errorf("an empty queue: %d, want 0", got)
	}
}
