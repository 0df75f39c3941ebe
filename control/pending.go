package control

import (
	"context"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/message"
)

// Pending are the messages that wait for their time, in due order. Their places are those in
// which they wait.
func (c *Control) Pending(ctx context.Context) ([]Pending, error) {
	b, err := c.live()
	if err != nil {
		return nil, err
	}
	list := []Pending{}
	err = b.EachPending(func(p broker.Pending, rec *message.Record) error {
		list = append(list, pendingOf(p, rec))
		return ctx.Err()
	})
	return list, err
}

func pendingOf(p broker.Pending, rec *message.Record) Pending {
	service := "schedule"
	if p.Level == 0 {
		service = "timer"
	}
	return Pending{
		Message: messageOf(&message.View{
			Topic: []byte(rec.Topic), QueueID: rec.QueueID, QueueOffset: p.QueueOffset, CommitLogOffset: p.CommitLogOffset,
			StoreHost: rec.StoreHost, BornTimestamp: rec.BornTimestamp, StoreTimestamp: rec.StoreTimestamp,
			ReconsumeTimes: rec.ReconsumeTimes, Body: rec.Body, Properties: rec.Properties,
		}),
		DueMs: p.Due, Level: int(p.Level), Service: service,
	}
}
