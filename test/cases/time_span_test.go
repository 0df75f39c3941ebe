package cases

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// codeTimeSpan is QUERY_CONSUME_TIME_SPAN.
const codeTimeSpan = 303

// TestConsumeTimeSpan tells how far a group is, by the instants at which messages were stored.
func TestConsumeTimeSpan(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	fill(t, c, topic, 3)
	stored := c.PullAll(t, wire.Pull{Group: suite.Name(t, "reader"), Topic: topic})
	join(t, c, group, topic)
	type span struct{ ConsumeTimeStamp, DelayTime, MaxTimeStamp, MinTimeStamp int64 }
	ask := func() span {
		t.Helper()
		answer := c.Call(t, codeTimeSpan, map[string]string{"topic": topic, "group": group}, nil)
		wantCode(t, "time span", answer, wire.Success)
		var body struct{ ConsumeTimeSpanSet []span }
		if err := json.Unmarshal(answer.Body, &body); err != nil || len(body.ConsumeTimeSpanSet) != 1 {
			t.Fatalf("time span: %s, %v", answer.Body, err)
		}
		return body.ConsumeTimeSpanSet[0]
	}
	first, last := stored[0].StoreTimestamp, stored[2].StoreTimestamp
	// Longer than the test takes, shorter than since 1970.
	const year = 365 * 24 * 3_600_000
	s := ask()
	if s.MinTimeStamp != first || s.MaxTimeStamp != last || s.ConsumeTimeStamp != first {
		t.Errorf("without an offset %+v, of %d to %d", s, first, last)
	}
	suite.Differs(t, "cases/stats-without-offsets", s.DelayTime >= 0 && s.DelayTime < year, fmt.Sprintf("behind by %d years", s.DelayTime/year))

	for offset, want := range map[int64]int64{2: stored[1].StoreTimestamp, 3: last} {
		wantCode(t, "commit", c.Commit(t, group, topic, 0, offset), wire.Success)
		if s = ask(); s.ConsumeTimeStamp != want || s.DelayTime < 0 || s.DelayTime >= year || (offset == 3 && s.DelayTime != 0) {
			t.Errorf("at %d: %+v, want %d", offset, s, want)
		}
	}
}
