package processor

import (
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// statusWithin is how long a client has to say how far it is, as with the real server.
const statusWithin = 5 * time.Second

// consumerStatus is a client's answer to GET_CONSUMER_STATUS_FROM_CLIENT (221): queues, as objects,
// to offsets.
type consumerStatus struct {
	MessageQueueTable map[string]int64 `json:"messageQueueTable"`
}

// status asks the members of a group, or the one that is named, how far they are in a topic, all at
// the same time. Those that do not answer are left out.
func (r *Relay) status(ex *remoting.Exchange) error {
	var req remoting.InvokeBrokerToGetConsumerStatusRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	online := r.Clients.Group([]byte(req.Group))
	if online == nil {
		return remoting.Errorf(remoting.SystemError, "No Any Consumer online in the consumer group: [%s]", req.Group)
	}
	for _, m := range online.Members {
		if m.Version < resetPushSince {
			return remoting.Errorf(remoting.SystemError, "the client does not support this feature. version=%d", m.Version)
		}
	}
	var asked []client.Member
	for _, m := range online.Members {
		if req.ClientAddr == "" || req.ClientAddr == m.ClientID {
			asked = append(asked, m)
		}
	}
	survey := &survey{pending: ex.Defer(), open: len(asked) + 1, answers: make(map[string][]fastjson.Entry), log: r.Log}
	for _, m := range asked {
		q := client.Question{Code: remoting.GetConsumerStatusFromClient, Within: statusWithin}
		head := remoting.GetConsumerStatusFromClientRequest{Topic: req.Topic, Group: req.Group}
		head.Encode(&q.Ext)
		if err := r.Clients.Ask(m.Conn, &q, func(cmd *remoting.Command, err error) { survey.heard(m.ClientID, cmd, err) }); err != nil {
			survey.heard(m.ClientID, nil, err)
		}
	}
	survey.done()
	return nil
}

// survey collects the answers of several clients and sends them as one.
type survey struct {
	pending *remoting.Pending
	log     logrus.FieldLogger

	mu      sync.Mutex // guards open and answers
	open    int        // answers that lack, and one until all were asked
	answers map[string][]fastjson.Entry
}

// heard notes what a client says.
func (s *survey) heard(clientID string, cmd *remoting.Command, err error) {
	defer s.done()
	if err == nil && cmd.Code != remoting.Success {
		err = &remoting.Error{Code: cmd.Code, Remark: cmd.Remark}
	}
	var status consumerStatus
	if err == nil {
		err = fastjson.Unmarshal(cmd.Body, &status)
	}
	if err != nil {
		s.log.WithError(err).WithField("clientId", clientID).Warn("a client does not say how far it is")
		return
	}
	var rows queueTable
	for key, at := range status.MessageQueueTable {
		var mq remoting.MessageQueue
		if err := fastjson.Unmarshal([]byte(key), &mq); err != nil {
			s.log.WithError(err).WithField("clientId", clientID).Warn("a client names a queue that cannot be read")
			continue
		}
		if err := rows.add(mq, at); err != nil {
			s.log.WithError(err).WithField("clientId", clientID).Warn("a client names a queue that cannot be written")
		}
	}
	s.mu.Lock()
	s.answers[clientID] = rows
	s.mu.Unlock()
}

// done sends the answer when nothing lacks any more.
func (s *survey) done() {
	s.mu.Lock()
	s.open--
	last := s.open == 0
	s.mu.Unlock()
	if !last {
		return
	}
	body := []byte(`{"consumerTable":{`)
	first := true
	for clientID, rows := range s.answers {
		if !first {
			body = append(body, ',')
		}
		first = false
		body = append(remoting.AppendJSONString(body, clientID), ':')
		body = fastjson.AppendObjectKeyed(body, rows)
	}
	s.pending.Reply.Body = append(body, `},"messageQueueTable":{}}`...)
	s.pending.Send()
}
