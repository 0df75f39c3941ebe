package admin

import (
	"cmp"
	"context"
	"slices"

	"github.com/wheelmq/wheelmq/remoting"
)

// QueueLag is how far a group is in one queue.
type QueueLag struct {
	Topic     string `json:"topic"`
	Broker    string `json:"broker"`
	QueueID   int32  `json:"queueId"`
	Committed int64  `json:"committed"` // offset of the next message that it will consume
	End       int64  `json:"end"`       // offset of the next message that will be stored
	Lag       int64  `json:"lag"`       // messages that it has not finished with
	InFlight  int64  `json:"inFlight"`  // those of them that were given to its members
	// ConsumedMs is the store time of the last message that the group has consumed, ms since the epoch; 0: none.
	ConsumedMs int64 `json:"consumedMs"`
}

// GroupLag is how far a group is.
type GroupLag struct {
	Group    string  `json:"group"`
	Lag      int64   `json:"lag"`
	InFlight int64   `json:"inFlight"`
	TPS      float64 `json:"consumeTps"` // messages a second, as the brokers count them
	// Delayed is how many messages wait for their time by the topic that they come to then, the group's retries
	// included; nil when no broker tells, as the real one.
	Delayed map[string]int64 `json:"delayed,omitempty"`
	Queues  []QueueLag       `json:"queues"`
}

// Lag asks how far a group is (GET_CONSUME_STATS, 208). A group without progress has no queues.
func (c *Client) Lag(ctx context.Context, group string) (GroupLag, error) {
	g := GroupLag{Group: group, Queues: []QueueLag{}}
	brokers, err := c.anyBroker(ctx)
	if err != nil {
		return g, err
	}
	for _, b := range brokers {
		if err := c.addLag(ctx, b, &g); err != nil {
			return g, err
		}
	}
	slices.SortFunc(g.Queues, func(a, b QueueLag) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.QueueID, b.QueueID))
	})
	return g, nil
}

// Lags is Lag of every group that Groups would list, without who is online.
func (c *Client) Lags(ctx context.Context) ([]GroupLag, error) {
	names, err := c.GroupNames(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]GroupLag, len(names))
	err = each(len(names), quietly, func(i int) (err error) {
		list[i], err = c.Lag(ctx, names[i])
		return err
	})
	return list, err
}

// addLag adds what one broker knows.
func (c *Client) addLag(ctx context.Context, b Broker, g *GroupLag) error {
	var got struct {
		ConsumeTPS  float64                           `json:"consumeTps"`
		OffsetTable map[string]remoting.OffsetWrapper `json:"offsetTable"`
		DelayTable  map[string]int64                  `json:"delayTable"`
	}
	request := &remoting.GetConsumeStatsRequest{ConsumerGroup: g.Group, Waiting: true}
	if err := c.read(ctx, b.Addr, remoting.GetConsumeStats, request, &got); err != nil {
		return err
	}
	for key, row := range got.OffsetTable {
		queue, err := queueKey(key)
		if err != nil {
			return err
		}
		q := QueueLag{
			Topic: queue.Topic, Broker: b.Name, QueueID: queue.QueueID, Committed: row.ConsumerOffset, End: row.BrokerOffset,
			// The offset of a group that pops is past what is in flight, but for what is popped in order.
			Lag:      row.BrokerOffset - row.ConsumerOffset + row.PopInFlight - row.PopInOrder,
			InFlight: max(0, row.PullOffset-row.ConsumerOffset) + row.PopInFlight, ConsumedMs: row.LastTimestamp,
		}
		g.Lag, g.InFlight, g.Queues = g.Lag+q.Lag, g.InFlight+q.InFlight, append(g.Queues, q)
	}
	g.TPS += got.ConsumeTPS
	if g.Delayed == nil && got.DelayTable != nil {
		g.Delayed = make(map[string]int64)
	}
	for topic, n := range got.DelayTable {
		g.Delayed[topic] += n
	}
	return nil
}
