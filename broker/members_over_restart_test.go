package broker_test

import (
	"slices"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// TestMembersOverARestart: who divides the queues before the heartbeats have come gets the group as
// it was.
func TestMembersOverARestart(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	for range 2 {
		l.passively("G", "T")
	}
	before := l.members("G")
	if len(before) != 2 {
		t.Fatalf("members %v, want two", before)
	}
	l.broker.StopHolding()
	l.close()
	l.open(startMs)
	defer l.close()
	if got := l.members("G"); !slices.Equal(got, before) {
		t.Errorf("members %v, want %v", got, before)
	}
}

// members asks for a group's client IDs.
func (l *lab) members(group string) []string {
	l.t.Helper()
	var ext remoting.ExtWriter
	req := remoting.GetConsumerListByGroupRequest{ConsumerGroup: group}
	req.Encode(&ext)
	var body remoting.ConsumerListBody
	if err := fastjson.Unmarshal(l.call(remoting.GetConsumerListByGroup, &ext, nil).Body, &body); err != nil {
		l.t.Fatal(err)
	}
	return body.ConsumerIDList
}
