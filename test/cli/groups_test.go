package cli

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

func TestGroupsAndLag(t *testing.T) {
	t.Parallel()
	name, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c := dial(t)
	c.MustCreateTopic(t, name, 1)
	for range 5 {
		c.MustSend(t, wire.Send{Topic: name, Body: []byte("x")})
	}
	c.Settle(t, name, 0, 5)
	fails(t, exitNotFound, "not found", "groups", group)
	fails(t, exitNotFound, "not found", "lag", group)
	wire.Introduce(t, suite.Server().BrokerAddr, group, name)
	c.Commit(t, group, name, 0, 2)

	var g struct {
		Name    string
		Lag     int64
		Members []struct{ ClientID string }
	}
	must(t, &g, "groups", group)
	if g.Name != group || g.Lag < 3 {
		t.Errorf("got %+v, want a lag of 3", g)
	}
	var seen struct {
		Groups []struct {
			Group  string
			Lag    int64
			Queues []struct {
				Topic                   string
				QueueID                 int
				Committed, End, Lag, MS int64
			}
		}
	}
	must(t, &seen, "lag", group)
	if len(seen.Groups) != 1 || seen.Groups[0].Lag != 3 {
		t.Fatalf("got %+v", seen)
	}
	if q := seen.Groups[0].Queues[0]; q.Topic != name || q.Committed != 2 || q.End != 5 {
		t.Errorf("got %+v", q)
	}
	fails(t, exitOver, "more than 2", "lag", group, "--limit", "2", "--json")
	if o := run(t, "lag", group, "--limit", "3"); o.code != 0 {
		t.Errorf("%+v", o)
	}
	seen.Groups = nil
	must(t, &seen, "lag")
	found := false
	for _, g := range seen.Groups {
		found = found || g.Group == group
	}
	if !found {
		t.Errorf("%s is not among %+v", group, seen.Groups)
	}
}

// The real broker tells neither what is in flight to pops nor what is delayed.
func TestLag_InFlightAndDelayed(t *testing.T) {
	if peer.TargetKind() == peer.Real {
		t.Skip("the real broker does not tell")
	}
	t.Parallel()
	name, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c := dial(t)
	c.MustCreateTopic(t, name, 1)
	wire.Introduce(t, suite.Server().BrokerAddr, group, name)
	for range 5 {
		c.MustSend(t, wire.Send{Topic: name, Body: []byte("x")})
	}
	c.MustSend(t, wire.Send{Topic: name, Body: []byte("level"), Properties: wire.Properties("DELAY", "18")})
	c.MustSend(t, wire.Send{Topic: name, Body: []byte("timer"), Properties: wire.Properties("TIMER_DELAY_SEC", "7000")})
	popped := c.MustPop(t, wire.Pop{Group: group, Topic: name, QueueID: wire.AnyQueue, MaxMsgNums: 3, Poll: patience})
	if len(popped.Messages) != 3 {
		t.Fatalf("popped %+v", popped)
	}
	c.Ack(t, popped.Messages[0])
	c.SendBack(t, group, name, popped.Messages[1].CommitLogOffset, 18)
	var seen struct {
		Groups []struct {
			Lag, InFlight int64
			Delayed       map[string]int64
			Queues        []struct{ Committed, Lag, InFlight int64 }
		}
	}
	suite.Eventually(t, patience, "all is shown", func() bool {
		must(t, &seen, "lag", group)
		g := seen.Groups[0]
		return g.Lag == 4 && g.InFlight == 2 && g.Delayed[name] == 2 && g.Delayed["%RETRY%"+group] == 1
	})
	if q := seen.Groups[0].Queues[0]; q.Committed != 3 || q.Lag != 4 || q.InFlight != 2 {
		t.Errorf("got %+v", q)
	}
	var g struct {
		Lag, InFlight int64
		Delayed       map[string]int64
	}
	must(t, &g, "groups", group)
	if g.Lag != 4 || g.InFlight != 2 || g.Delayed[name] != 2 {
		t.Errorf("got %+v", g)
	}
	for _, args := range [][]string{{"lag", group}, {"groups", group}, {"lag"}, {"groups"}} {
		if o := run(t, args...); o.code != 0 {
			t.Errorf("%v: %+v", args, o)
		}
	}
	if o := run(t, "lag", group); !strings.Contains(o.stdout, "on their way to "+name) {
		t.Errorf("printed\n%s", o.stdout)
	}
}
