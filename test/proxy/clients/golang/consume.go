package main

import (
	"context"
	"errors"
	"sync"
	"time"

	rocketmq "github.com/apache/rocketmq-clients/golang/v5"
	v2 "github.com/apache/rocketmq-clients/golang/v5/protocol/v2"

	"github.com/wheelmq/wheelmq/test/proxy/clients"
)

func filter(c *clients.Command) *rocketmq.FilterExpression {
	if c.SQL {
		return rocketmq.NewFilterExpressionWithType(c.Filter, rocketmq.SQL92)
	}
	return rocketmq.NewFilterExpression(c.Filter)
}

func (d *driver) simple(c *clients.Command) error {
	s, err := rocketmq.NewSimpleConsumer(d.config(c.Group), rocketmq.WithSimpleAwaitDuration(millis(c.AwaitMillis)),
		rocketmq.WithSimpleSubscriptionExpressions(map[string]*rocketmq.FilterExpression{c.Topic: filter(c)}))
	if err != nil {
		return err
	}
	s.SetRequestTimeout(requestTimeout)
	d.keep(c.Client, s)
	return s.Start()
}

func millis(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func (d *driver) push(c *clients.Command) error {
	var mu sync.Mutex
	seen := make(map[string]int)
	p, err := rocketmq.NewPushConsumer(d.config(c.Group), rocketmq.WithPushAwaitDuration(millis(c.AwaitMillis)),
		rocketmq.WithPushSubscriptionExpressions(map[string]*rocketmq.FilterExpression{c.Topic: filter(c)}),
		rocketmq.WithPushMessageListener(&rocketmq.FuncMessageListener{Consume: func(m *rocketmq.MessageView) rocketmq.ConsumerResult {
			d.print(&clients.Reply{Event: clients.Delivered, Client: c.Client, Messages: []clients.Message{incoming(m, 0)}})
			mu.Lock()
			defer mu.Unlock()
			seen[string(m.GetBody())]++
			if seen[string(m.GetBody())] <= c.Fail {
				return rocketmq.FAILURE
			}
			return rocketmq.SUCCESS
		}}))
	if err != nil {
		return err
	}
	p.SetRequestTimeout(requestTimeout)
	d.keep(c.Client, p)
	return p.Start()
}

func (d *driver) receive(c *clients.Command, r *clients.Reply) error {
	s, err := client[rocketmq.SimpleConsumer](d, c.Client)
	if err != nil {
		return err
	}
	messages, err := s.Receive(context.Background(), int32(c.Max), millis(c.InvisibleMillis))
	var status *rocketmq.ErrRpcStatus
	if errors.As(err, &status) && status.Code == int32(v2.Code_MESSAGE_NOT_FOUND) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, m := range messages {
		d.mu.Lock()
		d.received = append(d.received, m)
		ref := len(d.received) - 1
		d.mu.Unlock()
		r.Messages = append(r.Messages, incoming(m, ref))
	}
	return nil
}

func incoming(m *rocketmq.MessageView, ref int) clients.Message {
	in := clients.Message{
		Ref: ref, ID: m.GetMessageId(), Topic: m.GetTopic(), Body: string(m.GetBody()), Keys: m.GetKeys(),
		Properties: m.GetProperties(), Attempt: int(m.GetDeliveryAttempt()),
	}
	if m.GetTag() != nil {
		in.Tag = *m.GetTag()
	}
	if m.GetMessageGroup() != nil {
		in.Group = *m.GetMessageGroup()
	}
	if m.GetDeliveryTimestamp() != nil {
		in.DeliverAt = m.GetDeliveryTimestamp().UnixMilli()
	}
	return in
}

func (d *driver) message(ref int) *rocketmq.MessageView {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.received[ref]
}

func (d *driver) ack(c *clients.Command) error {
	s, err := client[rocketmq.SimpleConsumer](d, c.Client)
	if err != nil {
		return err
	}
	return s.Ack(context.Background(), d.message(c.Ref))
}

func (d *driver) invisible(c *clients.Command) error {
	s, err := client[rocketmq.SimpleConsumer](d, c.Client)
	if err != nil {
		return err
	}
	return s.ChangeInvisibleDuration(d.message(c.Ref), millis(c.InvisibleMillis))
}
