package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

type shown struct {
	Topic, MsgID, OffsetMsgID, Tags, Keys, Text string
	QueueOffset                                 int64
	Properties                                  map[string]string
}

type sent struct{ MsgID, OffsetMsgID, Status string }

// lines are the messages that tail prints, one on each line.
func lines(t *testing.T, args ...string) (list []shown) {
	t.Helper()
	o := run(t, append([]string{"tail", "--json"}, args...)...)
	if o.code != 0 {
		t.Fatalf("tail %v: %+v", args, o)
	}
	for line := range strings.Lines(o.stdout) {
		var m shown
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, m)
	}
	return list
}

func texts(list []shown) string {
	var words []string
	for _, m := range list {
		words = append(words, m.Text)
	}
	return strings.Join(words, " ")
}

func TestSendAndLookAtAMessage(t *testing.T) {
	t.Parallel()
	name := suite.Name(t, "topic")
	var s sent
	must(t, &s, "send", name, "hello", "--tags", "red", "--keys", "k1 k2", "-p", "shop=north")
	if s.Status != "SEND_OK" {
		t.Errorf("status %q", s.Status)
	}
	for _, by := range [][]string{{s.MsgID}, {s.OffsetMsgID}, {s.MsgID, "--topic", name}, {"k2", "--key", "--topic", name}} {
		var got []shown
		suite.Eventually(t, patience, fmt.Sprint(by, " finds it"), func() bool { return run(t, append([]string{"msg"}, by...)...).code == 0 })
		must(t, &got, append([]string{"msg"}, by...)...)
		if len(got) != 1 || got[0].Text != "hello" || got[0].MsgID != s.MsgID || got[0].OffsetMsgID != s.OffsetMsgID ||
			got[0].Tags != "red" || got[0].Keys != "k1 k2" || got[0].Properties["shop"] != "north" {
			t.Errorf("msg %v: got %+v", by, got)
		}
	}
	if o := run(t, "msg", s.MsgID, "--body"); o.stdout != "hello" {
		t.Errorf("the body is %q", o.stdout)
	}
	unknown := s.MsgID[:20] + "00000000" + "FFFF"
	fails(t, exitNotFound, "not found", "msg", unknown)
	fails(t, exitNotFound, "no record", "msg", s.OffsetMsgID[:16]+"00000000FFFFFFFF")
	fails(t, exitNotFound, "has the key", "msg", "k3", "--key", "--topic", name)
	fails(t, 1, "--topic", "msg", "k2", "--key")
}

func TestMsg_ClientsIDThatLooksLikeOneOfARecord(t *testing.T) {
	t.Parallel()
	name := suite.Name(t, "topic")
	var s sent
	must(t, &s, "send", name, "first")
	id := s.OffsetMsgID[:16] + "00000000FFFFFFFE"
	dial(t).MustSend(t, wire.Send{Topic: name, Body: []byte("second"), Properties: wire.Properties("UNIQ_KEY", id)})
	for _, command := range []string{"msg", "why"} {
		suite.Eventually(t, patience, command+" finds it", func() bool { return run(t, command, id).code == 0 })
	}
	if o := run(t, "msg", id, "--body"); o.stdout != "second" {
		t.Errorf("the body is %q", o.stdout)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	name := suite.Name(t, "topic")
	fails(t, exitNotFound, "not found", "tail", name)
	c := dial(t)
	c.MustCreateTopic(t, name, 2)
	for i := range 6 {
		tags := "even"
		if i%2 == 1 {
			tags = "odd"
		}
		c.MustSend(t, wire.Send{Topic: name, QueueID: i % 2, Body: fmt.Append(nil, i),
			Properties: wire.Properties("TAGS", tags, "n", fmt.Sprint(i))})
		// Their order over the queues is that of their store times.
		c.Settle(t, name, i%2, int64(i/2+1))
	}
	suite.Eventually(t, patience, "the topic has a route", func() bool { return run(t, "topics", name).code == 0 })
	for _, c := range []struct {
		want string
		args []string
	}{
		{"0 1 2 3 4 5", nil},
		{"3 4 5", []string{"--last", "3"}},
		{"0 2 4", []string{"--queue", "0"}},
		{"1 3 5", []string{"--tags", "odd", "--since", "1h"}},
		{"4 5", []string{"--sql", "n > 3"}},
		{"5", []string{"--tags", "odd", "--last", "1"}},
	} {
		if got := texts(lines(t, append([]string{name}, c.args...)...)); got != c.want {
			t.Errorf("tail %v: got %q, want %q", c.args, got, c.want)
		}
	}
	fails(t, exitNotFound, "queue 9", "tail", name, "--queue", "9")
	if peer.TargetKind() == peer.Ours {
		// The real broker takes it for an expression that nothing passes.
		fails(t, exitRefused, "code 23", "tail", name, "--sql", "n >")
	}
}

func TestSend_ManyAndDelayed(t *testing.T) {
	t.Parallel()
	name := suite.Name(t, "topic")
	o := runOn(t, suite.Server().NameServerAddr, "a\nb\nc\n", "send", name, "--lines", "--count", "2", "--json")
	if o.code != 0 || strings.Count(o.stdout, "SEND_OK") != 6 {
		t.Fatalf("%+v", o)
	}
	for _, args := range [][]string{{"--in", "1s"}, {"--level", "1"}} {
		if o := run(t, append([]string{"send", name, "later"}, args...)...); o.code != 0 {
			t.Errorf("%v: %+v", args, o)
		}
	}
	suite.Eventually(t, patience, "all are there", func() bool { return len(lines(t, name, "--last", "20")) == 8 })
	fails(t, 1, "is empty", "send", name, "")
	fails(t, 1, "name=value", "send", name, "x", "-p", "nonsense")
	fails(t, 1, "level", "send", name, "x", "--level", "2", "--in", "3s")
	fails(t, 1, "there is no delay level 99: broker-a has 18", "send", name, "x", "--level", "99")
	fails(t, exitNotFound, "no queue 99", "send", name, "x", "--queue", "99")
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	if o := runOn(t, "127.0.0.1:1", "", "topics"); o.code != exitNobody || !strings.Contains(o.stderr, "127.0.0.1:1 does not answer") || !strings.Contains(o.stderr, "wheelmq doctor") {
		t.Errorf("%+v", o)
	}
}
