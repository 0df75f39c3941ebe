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
	Lag       int64  `json:"lag"`
	// ConsumedMs is the store time of the last message that the group has consumed, ms since the epoch; 0: none.
	ConsumedMs int64 `json:"consumedMs"`
}

// GroupLag is how far a group is.
type GroupLag struct {
	Group  string     `json:"group"`
	Lag    int64      `json:"lag"`
	TPS    float64    `json:"consumeTps"` // messages a second, as the brokers count them
	Queues []QueueLag `json:"queues"`
}

// Lag asks how far a group is (GET_CONSUME_STATS, 208). A group without progress has no queues.
func (c *Client) Lag(ctx context.Context, group string) (GroupLag, error) {
	g := GroupLag{Group: group, Queues: []QueueLag{}}
	brokers, err := c.anyBroker(ctx)
	if err != nil {
		return g, err
	}
	for _, b := range brokers {
		rows, tps, err := c.lagOf(ctx, b, group)
		if err != nil {
			return g, err
		}
		g.Queues, g.TPS = append(g.Queues, rows...), g.TPS+tps
	}
	for _, q := range g.Queues {
		g.Lag += q.Lag
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

func (c *Client) lagOf(ctx context.Context, b Broker, group string) (rows []QueueLag, tps float64, err error) {
	var got struct {
		ConsumeTPS  float64                           `json:"consumeTps"`
		OffsetTable map[string]remoting.OffsetWrapper `json:"offsetTable"`
	}
	err = c.read(ctx, b.Addr, remoting.GetConsumeStats, &remoting.GetConsumeStatsRequest{ConsumerGroup: group}, &got)
	if err != nil {
		return nil, 0, err
	}
	for key, row := range got.OffsetTable {
		queue, err := queueKey(key)
		if err != nil {
			return nil, 0, err
		}
		rows = append(rows, QueueLag{
			Topic: queue.Topic, Broker: b.Name, QueueID: queue.QueueID, Committed: row.ConsumerOffset, End: row.BrokerOffset,
			Lag: row.BrokerOffset - row.ConsumerOffset, ConsumedMs: row.LastTimestamp,
		})
	}
	return rows, got.ConsumeTPS, nil
}
