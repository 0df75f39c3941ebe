package processor_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/remoting"
)

func (l *lab) reset(change ext) *remoting.Command {
	l.t.Helper()
	fields := ext{"topic": "T", "group": "g", "timestamp": "-1", "isForce": "true", "queueId": "-1", "offset": "-1"}
	maps.Copy(fields, change)
	return request(l.t, l.routes, &conn{}, remoting.InvokeBrokerToResetOffset, fields, "")
}

func (l *lab) wantOffset(group, topicName, queueID, want string) {
	l.t.Helper()
	if got := field(l.query(group, topicName, queueID, "setZeroIfNotFound", "false"), "offset"); got != want {
		l.t.Errorf("%s has offset %s in queue %s of %s, want %s", group, got, queueID, topicName, want)
	}
}

func TestResetOffset(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "", "x")
	l.put("T", 0, "", "y")
	const key = `{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:`
	const second = `,{"brokerName":"broker-a","queueId":1,"topic":"T"}:0}}`
	for _, tc := range []struct{ timestamp, want string }{{"-1", "2"}, {"0", "0"}, {"1900000000000", "2"}, {"1700000000000", "0"}} {
		reply := l.reset(ext{"timestamp": tc.timestamp})
		wantReply(t, reply, remoting.Success, "")
		if got := string(reply.Body); got != key+tc.want+second {
			t.Errorf("timestamp %s: %s", tc.timestamp, got)
		}
		l.wantOffset("g", "T", "0", tc.want)
	}
	reply := l.reset(ext{"queueId": "0", "offset": "1"})
	if got := string(reply.Body); got != key+"1}}" {
		t.Errorf("one queue: %s", got)
	}
	l.wantOffset("g", "T", "0", "1")
	wantReply(t, l.reset(ext{"queueId": "0", "offset": "3"}), remoting.Success, "")
	wantReply(t, l.reset(ext{"queueId": "0", "offset": "4"}), remoting.SystemError, "Target offset 4 not in consume queue range [0-2]")
	wantReply(t, l.reset(ext{"topic": "U"}), remoting.TopicNotExist, "Topic U does not exist")
	wantReply(t, l.reset(ext{"group": "h"}), remoting.SubscriptionGroupNotExist, "Group h does not exist")
}

// A commit of the time before the reset comes at any moment until the client pulls from where it was
// sent to.
func TestResetIsKeptUntilItIsFollowed(t *testing.T) {
	t.Parallel()
	const ignored = "Offset has been previously reset"
	l := newLab(t)
	for range 5 {
		l.put("T", 0, "", "x")
	}
	l.commit("g", "T", "5")
	l.reset(ext{"timestamp": "0"})
	member := l.join(client.Clustering, "T", "*", 1)
	member.take()
	wantReply(t, l.commit("g", "T", "5"), remoting.Success, ignored)
	l.wantOffset("g", "T", "0", "0")
	wantPulled(t, l.pull(member, 5, ext{"sysFlag": "5", "commitOffset": "5"}), remoting.PullOffsetMoved, "OFFSET_RESET", 0, 0, 5)
	l.wantOffset("g", "T", "0", "0")
	wantReply(t, l.commit("g", "T", "5"), remoting.Success, ignored)
	wantReply(t, l.commit("g", "T", "0"), remoting.Success, ignored)
	if sent := member.take(); len(sent) != 1 || sent[0].Code != remoting.NotifyConsumerIDsChanged {
		t.Errorf("who has taken the offset over is told %+v, want that it divides the queues again", sent)
	}
	l.commit("g", "T", "0")
	if sent := member.take(); len(sent) != 0 {
		t.Errorf("it is told again: %+v", sent)
	}
	l.wantOffset("g", "T", "0", "0")
	reply := l.pull(member, 0, ext{"sysFlag": "5", "commitOffset": "0"})
	wantReply(t, reply, remoting.Success, "FOUND")
	wantReply(t, l.commit("g", "T", "4"), remoting.Success, "")
	l.wantOffset("g", "T", "0", "4")
	wantReply(t, l.pull(member, 5, nil), remoting.PullNotFound, "OFFSET_OVERFLOW_ONE")
}

func TestResetWakesHeldPulls(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "", "x")
	member := l.join(client.Clustering, "T", "*", 1)
	other := &conn{id: 77}
	held := ext{"sysFlag": "6", "suspendTimeoutMillis": "15000"}
	for _, c := range []*conn{member, other} {
		fields := ext{"sysFlag": held["sysFlag"], "suspendTimeoutMillis": held["suspendTimeoutMillis"]}
		if c == other {
			l.groups["h"] = group("h")
			fields["consumerGroup"] = "h"
		}
		if reply := l.pull(c, 1, fields); reply != nil {
			t.Fatalf("the pull is answered: %+v", reply)
		}
	}
	member.take()
	l.reset(ext{"timestamp": "0"})
	eventually(t, "the answer to the held pull", func() bool {
		sent := member.take()
		return len(sent) == 1 && sent[0].Code == remoting.PullOffsetMoved && field(&sent[0], "nextBeginOffset") == "0"
	})
	if sent := other.take(); len(sent) != 0 {
		t.Errorf("another group is woken: %+v", sent)
	}
}

func TestPushedReset(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.pushedResets = true
	l.serve()
	l.topics["T"] = plain("T", 1)
	for range 3 {
		l.put("T", 0, "", "x")
	}
	wantReply(t, l.reset(nil), remoting.SystemError, "THe consumer group <g> not exist")
	l.commit("g", "T", "2")
	wantReply(t, l.reset(ext{"timestamp": "7"}), remoting.ConsumerNotOnline,
		"Consumer not online, so can not reset offset, Group: g Topic: T Timestamp: 7")
	member := l.join(client.Clustering, "T", "*", 1)
	member.take()
	for _, tc := range []struct{ timestamp, force, want string }{{"0", "false", "0"}, {"-1", "false", "2"}, {"-1", "true", "3"}} {
		want := `{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:` + tc.want + `}}`
		if got := string(l.reset(ext{"timestamp": tc.timestamp, "isForce": tc.force}).Body); got != want {
			t.Errorf("%+v: %s", tc, got)
		}
		sent := member.take()
		if len(sent) != 1 || sent[0].Code != remoting.ResetConsumerClientOffset || !sent[0].IsOneway() || string(sent[0].Body) != want ||
			field(&sent[0], "topic") != "T" || field(&sent[0], "group") != "g" {
			t.Errorf("%+v: the client is sent %+v", tc, sent)
		}
	}
	l.wantOffset("g", "T", "0", "2")
}

func TestCloneOffsets(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topics["U"] = plain("U", 1)
	l.offsets.Commit([]byte("g"), []byte("T"), 1, 4)
	l.offsets.Commit([]byte("g"), []byte("U"), 0, 5)
	l.offsets.Commit([]byte("g"), []byte("gone"), 0, 6)
	l.offsets.Commit([]byte("h"), []byte("T"), 0, 9)
	l.join(client.Clustering, "T", "*", 1)
	l.admin(remoting.CloneGroupOffset, ext{"srcGroup": "g", "destGroup": "h", "topic": "T"})
	l.wantOffset("h", "T", "1", "4")
	l.wantOffset("h", "T", "0", "<absent>")
	l.admin(remoting.CloneGroupOffset, ext{"srcGroup": "g", "destGroup": "h", "topic": "U"})
	l.wantOffset("h", "U", "0", "<absent>")
	l.admin(remoting.CloneGroupOffset, ext{"srcGroup": "g", "destGroup": "i", "offline": "true"})
	l.wantOffset("i", "T", "1", "4")
	l.wantOffset("i", "U", "0", "5")
	l.wantOffset("i", "gone", "0", "<absent>")
	l.admin(remoting.CloneGroupOffset, ext{"srcGroup": "nobody", "destGroup": "i", "topic": "T"})
	l.wantOffset("i", "T", "1", "4")
	if got := string(l.admin(remoting.QueryTopicConsumeByWho, ext{"topic": "T"}).Body); !strings.Contains(got, `"i"`) {
		t.Errorf("groups of T: %s", got)
	}
}
