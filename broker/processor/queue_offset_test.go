package processor_test

import (
	"strconv"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

func TestQueueEnds(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	stamp := l.time.NowMillis()
	for range 3 {
		l.put("T", 0, "", "x")
	}
	for _, tt := range []struct {
		code  int32
		topic string
		name  string
		want  int64
	}{
		{remoting.GetMaxOffset, "T", "offset", 3},
		{remoting.GetMinOffset, "T", "offset", 0},
		{remoting.GetEarliestMsgStoretime, "T", "timestamp", stamp},
		{remoting.GetMaxOffset, "unknown", "offset", 0},
		{remoting.GetMinOffset, "unknown", "offset", 0},
		{remoting.GetEarliestMsgStoretime, "unknown", "timestamp", -1},
	} {
		reply := request(t, l.routes, &conn{}, tt.code, ext{"topic": tt.topic, "queueId": "0"}, "")
		wantReply(t, reply, remoting.Success, "")
		if got := field(reply, tt.name); got != strconv.FormatInt(tt.want, 10) {
			t.Errorf("code %d of %s: %s %s, want %d", tt.code, tt.topic, tt.name, got, tt.want)
		}
	}
}

func TestOffsetByTime(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	start := l.time.NowMillis()
	for i := range int64(5) {
		l.time.Set(start + i*1000)
		l.put("T", 0, "", "x")
	}
	// What the real 5.5.0 answers.
	times := []int64{0, start, start + 1, start + 1000, start + 4000, start + 9000}
	for boundary, want := range map[string][]string{
		"":      {"0", "0", "1", "1", "4", "5"},
		"LOWER": {"0", "0", "1", "1", "4", "5"},
		"UPPER": {"0", "0", "0", "1", "4", "4"},
	} {
		for i, at := range times {
			fields := ext{"topic": "T", "queueId": "0", "timestamp": strconv.FormatInt(at, 10), "boundaryType": boundary}
			reply := request(t, l.routes, &conn{}, remoting.SearchOffsetByTimestamp, fields, "")
			wantReply(t, reply, remoting.Success, "")
			if got := field(reply, "offset"); got != want[i] {
				t.Errorf("%q at time %d: %s, want %s", boundary, i, got, want[i])
			}
		}
	}
}
