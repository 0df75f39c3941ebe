package processor_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestCorrectionOffsets(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	commit := func(group, topic string, queueID int32, offset int64) {
		l.offsets.Commit([]byte(group), []byte(topic), queueID, offset)
	}
	commit("ahead", "T", 0, 9)
	commit("behind", "T", 0, 4)
	commit("behind", "T", 1, 7)
	commit("left", "T", 0, 1)
	commit("ahead", "other", 0, 2)
	differences, err := difference.NewSet("")
	if err != nil {
		t.Fatal(err)
	}
	routes := (&processor.Correction{Offsets: l.offsets, Store: l.store, Differences: differences}).Routes()
	for _, tt := range []struct {
		fields ext
		want   string
	}{
		{ext{"topic": "T", "compareGroup": "none"}, `{"0":1,"1":7}`},
		{ext{"topic": "T", "compareGroup": "none", "filterGroups": "left,x"}, `{"0":4,"1":7}`},
		{ext{"topic": "T", "compareGroup": "ahead", "filterGroups": "left"}, `{"0":9223372036854775807,"1":7}`},
		{ext{"topic": "T", "compareGroup": "left"}, `{"0":1,"1":7}`},
		{ext{"topic": "none", "compareGroup": "g"}, `{}`},
	} {
		reply := request(t, routes, &conn{}, remoting.QueryCorrectionOffset, tt.fields, "")
		wantReply(t, reply, remoting.Success, "")
		if got := string(reply.Body); got != `{"correctionOffsets":`+tt.want+`}` {
			t.Errorf("%v: %s, want %s", tt.fields, got, tt.want)
		}
	}
	if got := l.offsets.Query([]byte("left"), []byte("T"), 0); got != 1 {
		t.Errorf("a group that was left out has offset %d", got)
	}
	wantReply(t, request(t, routes, &conn{}, remoting.QueryCorrectionOffset, nil, ""), remoting.SystemError, "the custom field <topic> is null")
}
