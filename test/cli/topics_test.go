package cli

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

type topic struct {
	Name, Kind, Perm, Type  string
	ReadQueues, WriteQueues int
	Messages                int64
}

func topics(t *testing.T, args ...string) map[string]topic {
	t.Helper()
	var list []topic
	must(t, &list, append([]string{"topics"}, args...)...)
	table := make(map[string]topic)
	for _, row := range list {
		table[row.Name] = row
	}
	return table
}

func TestTopics(t *testing.T) {
	t.Parallel()
	name := suite.Name(t, "topic")
	fails(t, exitNotFound, "not found", "topics", name)
	run(t, "topics", "create", name, "--queues", "2", "--type", "DELAY")
	suite.Eventually(t, patience, "the topic has a route", func() bool { return run(t, "topics", name).code == 0 })
	c := dial(t)
	for range 3 {
		c.MustSend(t, wire.Send{Topic: name, QueueID: 1, Body: []byte("x")})
	}
	c.Settle(t, name, 1, 3)
	if got, want := topics(t)[name], (topic{Name: name, Kind: "user", Perm: "rw", Type: "DELAY", ReadQueues: 2, WriteQueues: 2, Messages: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, shown := topics(t)["TBW102"]; shown {
		t.Error("a topic of the system is shown without --all")
	}
	if got := topics(t, "--all")["TBW102"].Kind; got != "system" {
		t.Errorf("TBW102 is of kind %q", got)
	}
	fails(t, 1, "--yes", "topics", "delete", name)
	if o := run(t, "topics", "delete", name, "--yes"); o.code != 0 {
		t.Errorf("delete: %+v", o)
	}
	if _, shown := topics(t)[name]; shown {
		t.Error("the deleted topic is still there")
	}
	fails(t, exitRefused, "code ", "topics", "create", "bad^name")
}

func TestTopics_ForPeople(t *testing.T) {
	t.Parallel()
	name := suite.Name(t, "topic")
	dial(t).MustCreateTopic(t, name, 3)
	suite.Eventually(t, patience, "the topic has a route", func() bool { return run(t, "topics", name).code == 0 })
	if o := run(t, "topics", name); strings.Count(o.stdout, "broker-a") != 3 || !strings.HasPrefix(o.stdout, "BROKER") {
		t.Errorf("printed\n%s", o.stdout)
	}
}
