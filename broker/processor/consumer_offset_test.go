package processor_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/remoting"
)

func (l *lab) query(groupName, topicName, queueID string, more ...string) *remoting.Command {
	l.t.Helper()
	fields := ext{"consumerGroup": groupName, "topic": topicName, "queueId": queueID}
	if len(more) == 2 {
		fields[more[0]] = more[1]
	}
	return request(l.t, l.routes, &conn{}, remoting.QueryConsumerOffset, fields, "")
}

func (l *lab) commit(groupName, topicName, offset string) *remoting.Command {
	l.t.Helper()
	return request(l.t, l.routes, &conn{}, remoting.UpdateConsumerOffset,
		ext{"consumerGroup": groupName, "topic": topicName, "queueId": "0", "commitOffset": offset}, "")
}

func TestQueryWithoutAnOffset(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "", "history")
	const boot = "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"
	reply := l.query("new", "T", "0")
	wantReply(t, reply, remoting.Success, "")
	if got := field(reply, "offset"); got != "0" {
		t.Errorf("a new group begins at %s, want 0", got)
	}
	wantReply(t, l.query("new", "T", "0", "setZeroIfNotFound", "false"), remoting.QueryNotFound,
		"Not found, do not set to zero, maybe this group boot first")
	wantReply(t, l.query("new", "unknown", "0"), remoting.QueryNotFound, boot)
	wantReply(t, l.query("new", "T", "9"), remoting.QueryNotFound, boot)
	wantReply(t, l.query("new", "T", "1"), remoting.QueryNotFound, boot)
}

func TestQueryOfAQueueWhoseBeginningIsCold(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for range 50 {
		l.put("T", 0, "", "x")
	}
	routes := (&processor.ConsumerOffset{Topics: l.topics, Groups: l.groups, Offsets: l.offsets, Store: l.store, HotBytes: 1000}).Routes()
	reply := request(t, routes, &conn{}, remoting.QueryConsumerOffset, ext{"consumerGroup": "g", "topic": "T", "queueId": "0"}, "")
	wantReply(t, reply, remoting.QueryNotFound, "")
}

func TestCommits(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "", "x")
	wantReply(t, l.commit("unknown", "T", "1"), remoting.SubscriptionGroupNotExist, "Group unknown not exist!")
	wantReply(t, l.commit("g", "unknown", "1"), remoting.TopicNotExist, "Topic unknown not exist!")
	wantReply(t, l.query("g", "T", "0", "setZeroIfNotFound", "false"), remoting.QueryNotFound, "")
	for _, step := range []struct{ commit, want string }{{"999", "999"}, {"-5", "0"}, {"3", "3"}, {"1", "1"}} {
		wantReply(t, l.commit("g", "T", step.commit), remoting.Success, "")
		reply := l.query("g", "T", "0", "setZeroIfNotFound", "false")
		wantReply(t, reply, remoting.Success, "")
		if got := field(reply, "offset"); got != step.want {
			t.Errorf("after a commit of %s: %s, want %s", step.commit, got, step.want)
		}
	}
}

func BenchmarkCommitAndQuery(b *testing.B) {
	l := newLab(b)
	router := remoting.NewRouter(l.routes, remoting.RouterOptions{Log: quiet()})
	frames := [2][]byte{}
	for i, code := range []int32{remoting.UpdateConsumerOffset, remoting.QueryConsumerOffset} {
		cmd := remoting.Command{Code: code}
		fields := ext{"consumerGroup": "g", "topic": "T", "queueId": "0", "commitOffset": "7"}
		for key, value := range fields {
			cmd.Ext.Set(key, value)
		}
		frames[i] = remoting.AppendCommand(nil, &cmd)
	}
	var ex remoting.Exchange
	c := &conn{}
	b.ReportAllocs()
	for b.Loop() {
		for _, frame := range frames {
			ex.Begin(c)
			if err := remoting.Decode(frame, &ex.Req); err != nil {
				b.Fatal(err)
			}
			router.Serve(&ex)
			if ex.Reply.Code != remoting.Success {
				b.Fatal(ex.Reply.Remark)
			}
		}
	}
}
