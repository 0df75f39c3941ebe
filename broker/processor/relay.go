package processor

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// relayedSince is the version from which clients know 307 and 309 (V3_1_8_SNAPSHOT).
const relayedSince = 62

type (
	askedClients interface {
		onlineGroups
		Ask(conn remoting.Conn, q *client.Question, done func(*remoting.Command, error)) error
	}
)

// Relay serves what tools ask of one client through the broker: GET_CONSUMER_RUNNING_INFO (307) and
// CONSUME_MESSAGE_DIRECTLY (309). The client's answer is passed on as it is. No worker waits for it.
type Relay struct {
	BrokerName string
	Clients    askedClients
	Topics     topicReader
	Groups     groupReader
	Store      recordReader
	Log        logrus.FieldLogger
}

// Routes returns the table rows.
func (r *Relay) Routes() []remoting.Route {
	const test = "broker/processor/relay_test.go"
	return []remoting.Route{
		{Code: remoting.GetConsumerRunningInfo, Class: remoting.Admin, Handler: r.runningInfo, Since: "3.0", Test: test},
		{Code: remoting.ConsumeMessageDirectly, Class: remoting.Admin, Handler: r.consume, Since: "3.0", Test: test},
		{Code: remoting.InvokeBrokerToGetConsumerStatus, Class: remoting.Admin, Handler: r.status, Since: "3.0", Test: test},
	}
}

func (r *Relay) runningInfo(ex *remoting.Exchange) error {
	var req remoting.GetConsumerRunningInfoRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	q := client.Question{Code: remoting.GetConsumerRunningInfo}
	passOn(&q.Ext, &ex.Req.Ext)
	return r.ask(ex, req.ConsumerGroup, req.ClientID, &q)
}

// consume gives a client one message to consume now, besides what it pulls.
func (r *Relay) consume(ex *remoting.Exchange) error {
	var req remoting.ConsumeMessageDirectlyRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	_, at, err := message.ParseOffsetID(req.MsgID)
	if err != nil {
		return remoting.Errorf(remoting.SystemError, "%q is not an offset message id: %v", req.MsgID, err)
	}
	q := client.Question{Code: remoting.ConsumeMessageDirectly}
	passOn(&q.Ext, &ex.Req.Ext, "brokerName", "topicSysFlag", "groupSysFlag")
	q.Ext.String("brokerName", r.BrokerName)
	if config := r.Topics.Get([]byte(req.Topic)); config != nil {
		q.Ext.Int("topicSysFlag", int64(config.TopicSysFlag))
	}
	if config := r.Groups.Lookup([]byte(req.ConsumerGroup)); config != nil {
		q.Ext.Int("groupSysFlag", int64(config.GroupSysFlag))
	}
	record, err := r.Store.Record(at, 0)
	if err != nil {
		return remoting.Errorf(remoting.SystemError, noRecordAt, at)
	}
	defer record.Release()
	q.Body = slices.Clone(record.Bytes)
	return r.ask(ex, req.ConsumerGroup, req.ClientID, &q)
}

// passOn copies a request's fields, but for those that are set anew, and those whose names no client
// has: names are not escaped when they are written.
func passOn(to *remoting.ExtWriter, from *remoting.Fields, but ...string) {
	for _, field := range from.All() {
		if !slices.Contains(but, string(field.Key)) && !bytes.ContainsFunc(field.Key, notInNames) {
			to.Bytes(string(field.Key), field.Value)
		}
	}
}

func notInNames(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' }

// ask relays a question to one client and defers the answer.
func (r *Relay) ask(ex *remoting.Exchange, group, clientID string, q *client.Question) error {
	m, ok := r.member(group, clientID)
	if !ok {
		return remoting.Errorf(remoting.SystemError, "The Consumer <%s> <%s> not online", group, clientID)
	}
	if m.Version < relayedSince {
		return remoting.Errorf(remoting.SystemError, "The Consumer <%s> Version <%d> too low to finish, please upgrade it to V3_1_8_SNAPSHOT",
			clientID, m.Version)
	}
	pending := ex.Defer()
	answer := func(cmd *remoting.Command, err error) {
		relayed(&pending.Reply, cmd, err, group, clientID)
		pending.Send()
	}
	if err := r.Clients.Ask(m.Conn, q, answer); err != nil {
		answer(nil, err)
	}
	return nil
}

// relayed makes a client's answer, or why there is none, that of the broker.
func relayed(reply *remoting.Reply, cmd *remoting.Command, err error, group, clientID string) {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		reply.Code = remoting.ConsumeMsgTimeout
	case errors.Is(err, client.ErrManyCalls):
		reply.Code = remoting.SystemBusy
	case err != nil:
		reply.Code = remoting.SystemError
	default:
		reply.Code, reply.Remark, reply.Body = cmd.Code, cmd.Remark, cmd.Body
		passOn(&reply.Ext, &cmd.Ext)
		return
	}
	reply.Remark = "invoke consumer <" + group + "> <" + clientID + "> failed: " + err.Error()
}

func (r *Relay) member(group, clientID string) (client.Member, bool) {
	if online := r.Clients.Group([]byte(group)); online != nil {
		for _, m := range online.Members {
			if m.ClientID == clientID {
				return m, true
			}
		}
	}
	return client.Member{}, false
}
