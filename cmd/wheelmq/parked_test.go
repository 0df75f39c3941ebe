package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/internal/await"
)

// succeeds runs a command and returns what it prints.
func succeeds(t *testing.T, words ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	if code := run(words, &out, &said); code != 0 {
		t.Fatalf("%v: exit code %d, %s", words, code, said.String())
	}
	return out.String()
}

func TestParked_DrivenAgainOnceTheTopicIsBack(t *testing.T) {
	t.Parallel()
	s := startServer(t, "serve", "--free-ports", "--bind", "127.0.0.1", "--memory", "--virtual-clock", "--test-api")
	defer s.stop(t)
	ns, onHTTP := []string{"--namesrv", s.ready.NameServer, "--timeout", await.Patience.String()}, []string{"--http", s.ready.HTTP}
	ask := func(with []string, words ...string) string { return succeeds(t, append(words, with...)...) }
	ask(ns, "topics", "create", "orders")
	ask(ns, "send", "orders", "first", "--level", "1", "--queue", "7")
	ask(ns, "send", "orders", "second", "--level", "1")
	ask(ns, "topics", "delete", "orders", "--yes")
	var got struct {
		Total  int64
		Parked []struct{ ID, Topic, Reason string }
	}
	// Virtual time: nothing is due before its topic is gone, however slow the machine is.
	reply, err := http.Post("http://"+s.ready.HTTP+"/test/clock/advance?duration=1s", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := reply.Body.Close(); err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("advance: status %d, %v", reply.StatusCode, err)
	}
	await.Until(t, "both are parked", func() bool {
		if err := json.Unmarshal([]byte(ask(onHTTP, "parked", "--json")), &got); err != nil {
			t.Fatalf("parked: %v", err)
		}
		return got.Total >= 2
	})
	if p := got.Parked[0]; p.Topic != "orders" || p.Reason == "" {
		t.Errorf("got %+v", p)
	}
	var out, said bytes.Buffer
	if code := run(append([]string{"parked", "redrive", got.Parked[0].ID}, onHTTP...), &out, &said); code != exitRefused {
		t.Errorf("without its topic: exit code %d, %s", code, said.String())
	}
	// With fewer queues than it had: the one that the message was sent to is none of them.
	ask(ns, "topics", "create", "orders", "--queues", "2")
	ask(onHTTP, "parked", "redrive", got.Parked[0].ID)
	ask(onHTTP, "parked", "drop", got.Parked[1].ID)
	if list := ask(onHTTP, "parked", "list"); !strings.Contains(list, "in all") || strings.Contains(list, "orders") {
		t.Errorf("parked afterwards: %s", list)
	}
	if tail := ask(ns, "tail", "orders"); !strings.HasSuffix(tail, "first\n") {
		t.Errorf("orders has %q", tail)
	}
	if code := run(append([]string{"parked", "drop", got.Parked[1].ID}, onHTTP...), &out, &said); code != exitNotFound {
		t.Errorf("twice: exit code %d", code)
	}
}
