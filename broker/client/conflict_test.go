package client_test

import (
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/clock"
)

// TestDifferentSubscriptionsAreWarnedOf: once for each pair, naming both members.
func TestDifferentSubscriptionsAreWarnedOf(t *testing.T) {
	t.Parallel()
	log, hook := test.NewNullLogger()
	r, err := client.New(client.Options{Wire: clock.NewVirtual(0), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := &conn{id: 1}, &conn{id: 2}, &conn{id: 3}
	for _, step := range []struct {
		name string
		do   func()
		want logrus.Fields // of the warning; nil: none
	}{
		{name: "a alone", do: func() { r.Heartbeat(a, beat("a", sub("T", "x || y", 1))) }},
		{name: "b the same, in another order", do: func() { r.Heartbeat(b, beat("b", sub("T", "y||x", 2))) }},
		{name: "b changes its mind", do: func() { r.Heartbeat(b, beat("b", sub("T", "z", 3))) }},
		{name: "a finds b's", do: func() { r.Heartbeat(a, beat("a", sub("T", "x || y", 1))) }, want: logrus.Fields{
			"group": "g", "topic": "T", "clientId": "b", "subscription": "TAG z", "otherClientId": "a", "otherSubscription": "TAG x || y"}},
		{name: "b again", do: func() { r.Heartbeat(b, beat("b", sub("T", "z", 3))) }},
		{name: "a again", do: func() { r.Heartbeat(a, beat("a", sub("T", "x || y", 1))) }},
		{name: "c has another topic", do: func() { r.Heartbeat(c, beat("c", sub("U", "*", 1))) }, want: logrus.Fields{
			"group": "g", "topic": "T", "clientId": "a", "subscription": "TAG x || y", "otherClientId": "c", "otherSubscription": "no subscription"}},
		{name: "c leaves", do: func() { r.ConnClosed(c) }},
		{name: "a without c", do: func() { r.Heartbeat(a, beat("a", sub("T", "x || y", 1))) }},
		{name: "a alone again", do: func() { r.ConnClosed(b); r.Heartbeat(a, beat("a", sub("T", "w", 9))) }},
	} {
		hook.Reset()
		step.do()
		entries := hook.AllEntries()
		if step.want == nil {
			if len(entries) != 0 {
				t.Errorf("%s: warned: %v", step.name, entries[0].Data)
			}
			continue
		}
		if len(entries) != 1 {
			t.Errorf("%s: %d warnings, want one", step.name, len(entries))
			continue
		}
		for key, want := range step.want {
			if got := entries[0].Data[key]; got != want {
				t.Errorf("%s: %s is %v, want %v", step.name, key, got, want)
			}
		}
	}
}

func TestSubscriptionsAreRemembered(t *testing.T) {
	t.Parallel()
	dir := persist.At(t.TempDir())
	start := func() *client.Registry {
		log, _ := test.NewNullLogger()
		r, err := client.New(client.Options{Wire: clock.NewVirtual(0), Log: log, Config: dir})
		if err != nil {
			t.Fatal(err)
		}
		r.Start()
		return r
	}
	remembered := func(r *client.Registry, group, topic string) string {
		if s := r.Remembered([]byte(group), []byte(topic)); s != nil {
			if s.Filter == nil {
				t.Errorf("%s of %s has no filter", topic, group)
			}
			return s.Expression
		}
		return ""
	}
	r := start()
	r.Heartbeat(&conn{id: 1}, beat("a", sub("T", "x", 1), sub("U", "*", 1)))
	r.Heartbeat(&conn{id: 1}, beat("a", sub("T", "y", 2)))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = start()
	if got := remembered(r, "g", "T") + " " + remembered(r, "g", "U") + remembered(r, "g", "V") + remembered(r, "h", "T"); got != "y *" {
		t.Errorf("remembered after a restart: %q, want the last of T and that of U", got)
	}
	r.DeleteGroup("g")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = start()
	if got := remembered(r, "g", "T"); got != "" {
		t.Errorf("remembered of a deleted group: %q", got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}
