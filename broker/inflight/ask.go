package inflight

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// answerWithin is how long a client has to say what it holds.
const answerWithin = time.Second

// runningInfo is what this package wants of a client's answer. Its table has objects as keys.
type runningInfo struct {
	MQTable map[string]held `json:"mqTable"`
}

// held is what a client has of a queue.
type held struct {
	CachedMsgCount      int64 `json:"cachedMsgCount"`
	TransactionMsgCount int64 `json:"transactionMsgCount"` // being consumed in order
}

// finished is below which offset a member of a group that broadcasts has finished with a queue.
func (t *Tracker) finished(at Place, conn uint64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.places[at]; p != nil && p.chans[conn] != nil {
		return p.chans[conn].done
	}
	return 0
}

// ask hears the members of groups that broadcast, whose pulls do not tell how far they are.
func (t *Tracker) ask(ctx context.Context, work []Work) {
	members := make(map[string]map[uint64][]Place)
	for _, w := range work {
		if w.broadcast {
			if members[w.Group] == nil {
				members[w.Group] = make(map[uint64][]Place)
			}
			members[w.Group][w.conn] = append(members[w.Group][w.conn], w.Place)
		}
	}
	var wg sync.WaitGroup
	for name, behind := range members {
		group := t.opts.Clients.Group([]byte(name))
		if group == nil {
			continue
		}
		for _, m := range group.Members {
			if places := behind[m.Conn.ID()]; places != nil {
				wg.Go(func() { t.hear(ctx, m, name, places) })
			}
		}
	}
	wg.Wait()
}

// hear notes what a member has finished with: what it was given before its pull waits for more,
// unless it holds some of it.
func (t *Tracker) hear(ctx context.Context, m client.Member, group string, places []Place) {
	waits := make(map[Place]int64)
	for _, at := range places {
		for _, h := range t.opts.Polls.Held(at.Topic, at.QueueID) {
			if h.ConnID == m.Conn.ID() && h.Group == group {
				waits[at] = h.Offset
			}
		}
	}
	if len(waits) == 0 {
		return
	}
	var info map[Place]held
	if m.Language != remoting.LanguageGo {
		var err error
		if info, err = t.inquire(ctx, m, group); err != nil {
			t.opts.Log.WithError(err).WithField("clientId", m.ClientID).Debug("a client does not say what it holds")
			return
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for at, offset := range waits {
		if h := info[at]; h.CachedMsgCount+h.TransactionMsgCount == 0 {
			_, c := t.find(at, m.Conn.ID())
			c.done = max(c.done, offset)
		}
	}
}

// inquire sends GET_CONSUMER_RUNNING_INFO to a member of a group.
func (t *Tracker) inquire(ctx context.Context, m client.Member, group string) (map[Place]held, error) {
	q := client.Question{Code: remoting.GetConsumerRunningInfo, Within: answerWithin}
	req := remoting.GetConsumerRunningInfoRequest{ConsumerGroup: group, ClientID: m.ClientID}
	req.Encode(&q.Ext)
	answer, err := client.Call(ctx, m.Conn, &q)
	if err != nil {
		return nil, fmt.Errorf("inflight: %w", err)
	}
	if answer.Code != remoting.Success {
		return nil, fmt.Errorf("inflight: client %s answers code %d: %s", m.ClientID, answer.Code, answer.Remark)
	}
	return t.parse(answer.Body, group)
}

// parse reads what a client holds of each queue of this broker.
func (t *Tracker) parse(body []byte, group string) (map[Place]held, error) {
	var info runningInfo
	if err := fastjson.Unmarshal(body, &info); err != nil {
		return nil, fmt.Errorf("inflight: running info: %w", err)
	}
	table := make(map[Place]held, len(info.MQTable))
	for key, h := range info.MQTable {
		var mq remoting.MessageQueue
		if err := fastjson.Unmarshal([]byte(key), &mq); err != nil {
			return nil, fmt.Errorf("inflight: running info: queue %s: %w", key, err)
		}
		if mq.BrokerName == t.opts.BrokerName {
			table[Place{group, mq.Topic, mq.QueueID}] = h
		}
	}
	return table, nil
}
