package cli

import (
	"testing"

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
