package processor_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// talker is a connection whose client answers the broker's own requests.
type talker struct {
	conn
	answer func(*remoting.Command) (*remoting.Command, error)
}

func (k *talker) Call(_ context.Context, code int32, head *remoting.ExtWriter, body []byte) (*remoting.Command, error) {
	var asked remoting.Command
	if err := remoting.Decode(remoting.AppendRequest(nil, code, 1, 0, head, body), &asked); err != nil {
		return nil, err
	}
	return k.answer(&asked)
}

func (l *lab) talks(id uint64, clientID string, answer func(*remoting.Command) (*remoting.Command, error)) {
	l.clients.Heartbeat(&talker{conn{id: id}, answer}, &client.Beat{
		ClientID: clientID, Version: remoting.Version, Consumers: []client.Consumer{{Group: "g"}},
	})
}

// relayed runs a request whose answer is deferred and waits for it.
func (l *lab) relayed(code int32, fields ext) *remoting.Command {
	l.t.Helper()
	asker := &conn{}
	if reply := request(l.t, l.routes, asker, code, fields, ""); reply != nil {
		return reply
	}
	var answer remoting.Command
	eventually(l.t, "the answer", func() bool {
		sent := asker.take()
		if len(sent) == 1 {
			answer = sent[0]
		}
		return len(sent) == 1
	})
	return &answer
}

func TestRunningInfoIsRelayed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	var asked *remoting.Command
	fails := error(nil)
	l.talks(99, "me", func(cmd *remoting.Command) (*remoting.Command, error) {
		asked = cmd
		reply := &remoting.Command{Code: 7, Remark: "as said", Body: []byte("info")}
		reply.Ext.Set("x", "y")
		return reply, fails
	})
	fields := ext{"consumerGroup": "g", "clientId": "me", "jstackEnable": "true", "whatever": `"quoted"`}
	answer := l.relayed(remoting.GetConsumerRunningInfo, fields)
	if answer.Code != 7 || answer.Remark != "as said" || string(answer.Body) != "info" || field(answer, "x") != "y" {
		t.Errorf("answered %+v", answer)
	}
	for key, want := range fields {
		if got := field(asked, key); got != want {
			t.Errorf("the client is asked with %s=%s, want %s", key, got, want)
		}
	}
	fails = context.DeadlineExceeded
	wantReply(t, l.relayed(remoting.GetConsumerRunningInfo, fields), remoting.ConsumeMsgTimeout, "")
	fails = errors.New("broken")
	wantReply(t, l.relayed(remoting.GetConsumerRunningInfo, fields), remoting.SystemError, "")
	fields["clientId"] = "you"
	wantReply(t, l.relayed(remoting.GetConsumerRunningInfo, fields), remoting.SystemError, "The Consumer <g> <you> not online")
}

func TestConsumeDirectlyIsRelayed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topics["T"].TopicSysFlag, l.groups["g"].GroupSysFlag = 2, 4
	stored := l.put("T", 0, "", "for you")
	var asked *remoting.Command
	l.talks(99, "me", func(cmd *remoting.Command) (*remoting.Command, error) {
		asked = cmd
		return &remoting.Command{Body: []byte(`{"consumeResult":"CR_SUCCESS"}`)}, nil
	})
	id := string(message.AppendOffsetID(nil, (&conn{}).LocalAddr(), stored.CommitLogOffset))
	fields := ext{"consumerGroup": "g", "clientId": "me", "msgId": id, "topic": "T", "brokerName": "another"}
	answer := l.relayed(remoting.ConsumeMessageDirectly, fields)
	wantReply(t, answer, remoting.Success, "")
	if string(answer.Body) != `{"consumeResult":"CR_SUCCESS"}` {
		t.Errorf("answered %s", answer.Body)
	}
	want := maps.Clone(fields)
	maps.Copy(want, ext{"brokerName": "broker-a", "topicSysFlag": "2", "groupSysFlag": "4"})
	for key, value := range want {
		if got := field(asked, key); got != value {
			t.Errorf("the client is asked with %s=%s, want %s", key, got, value)
		}
	}
	if v, err := message.ParseVerify(asked.Body); err != nil || string(v.Body) != "for you" {
		t.Errorf("the client is given %v, %v", v, err)
	}
	fields["msgId"] = strings.Repeat("F", 16) + "00000000FFFFFFFF"
	wantReply(t, l.relayed(remoting.ConsumeMessageDirectly, fields), remoting.SystemError, "")
	fields["msgId"] = "unique"
	wantReply(t, l.relayed(remoting.ConsumeMessageDirectly, fields), remoting.SystemError, "")
}

func TestConsumerStatusOfAGroup(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	wantReply(t, l.relayed(remoting.InvokeBrokerToGetConsumerStatus, ext{"topic": "T", "group": "g"}), remoting.SystemError,
		"No Any Consumer online in the consumer group: [g]")
	l.talks(1, "java", func(cmd *remoting.Command) (*remoting.Command, error) {
		if cmd.Code != remoting.GetConsumerStatusFromClient || field(cmd, "topic") != "T" || field(cmd, "group") != "g" {
			t.Errorf("asked %+v", cmd)
		}
		return &remoting.Command{Body: []byte(`{"messageQueueTable":{{"brokerName":"broker-a","queueId":1,"topic":"T"}:5}}`)}, nil
	})
	l.talks(2, "silent", func(*remoting.Command) (*remoting.Command, error) { return nil, context.DeadlineExceeded })
	l.talks(3, "strange", func(*remoting.Command) (*remoting.Command, error) { return &remoting.Command{Code: 1}, nil })
	const java = `{"consumerTable":{"java":{{"brokerName":"broker-a","queueId":1,"topic":"T"}:5}},"messageQueueTable":{}}`
	for _, clientID := range []string{"", "java"} {
		answer := l.relayed(remoting.InvokeBrokerToGetConsumerStatus, ext{"topic": "T", "group": "g", "clientAddr": clientID})
		wantReply(t, answer, remoting.Success, "")
		if string(answer.Body) != java {
			t.Errorf("of %q: %s", clientID, answer.Body)
		}
	}
	if got := string(l.relayed(remoting.InvokeBrokerToGetConsumerStatus, ext{"topic": "T", "group": "g", "clientAddr": "nobody"}).Body); got != `{"consumerTable":{},"messageQueueTable":{}}` {
		t.Errorf("of nobody: %s", got)
	}
}
