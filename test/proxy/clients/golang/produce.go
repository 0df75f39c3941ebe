package main

import (
	"context"
	"time"

	rocketmq "github.com/apache/rocketmq-clients/golang/v5"
	"github.com/apache/rocketmq-clients/golang/v5/credentials"

	"github.com/wheelmq/wheelmq/test/proxy/clients"
)

func (d *driver) config(group string) *rocketmq.Config {
	return &rocketmq.Config{Endpoint: d.endpoint, ConsumerGroup: group, Credentials: &credentials.SessionCredentials{}}
}

func (d *driver) producer(c *clients.Command) error {
	p, err := rocketmq.NewProducer(d.config(""), rocketmq.WithTopics(c.Topic),
		rocketmq.WithTransactionChecker(&rocketmq.TransactionChecker{Check: func(m *rocketmq.MessageView) rocketmq.TransactionResolution {
			d.print(&clients.Reply{Event: clients.Checked, Client: c.Client, Messages: []clients.Message{{Body: string(m.GetBody())}}})
			return resolution(c.Resolution)
		}}))
	if err != nil {
		return err
	}
	p.SetRequestTimeout(requestTimeout)
	d.keep(c.Client, p)
	return p.Start()
}

func resolution(name string) rocketmq.TransactionResolution {
	switch name {
	case clients.Commit:
		return rocketmq.COMMIT
	case clients.Rollback:
		return rocketmq.ROLLBACK
	}
	return rocketmq.UNKNOWN
}

func outgoing(m *clients.Message) *rocketmq.Message {
	out := &rocketmq.Message{Topic: m.Topic, Body: []byte(m.Body)}
	if m.Tag != "" {
		out.SetTag(m.Tag)
	}
	if len(m.Keys) > 0 {
		out.SetKeys(m.Keys...)
	}
	if m.Group != "" {
		out.SetMessageGroup(m.Group)
	}
	if m.DeliverAt != 0 {
		out.SetDelayTimestamp(time.UnixMilli(m.DeliverAt))
	}
	for key, value := range m.Properties {
		out.AddProperty(key, value)
	}
	return out
}

func (d *driver) send(c *clients.Command, r *clients.Reply) error {
	p, err := client[rocketmq.Producer](d, c.Client)
	if err != nil {
		return err
	}
	receipts, err := p.Send(context.Background(), outgoing(c.Message))
	if err != nil {
		return err
	}
	r.MessageID = receipts[0].MessageID
	return nil
}

func (d *driver) transaction(c *clients.Command, r *clients.Reply) error {
	p, err := client[rocketmq.Producer](d, c.Client)
	if err != nil {
		return err
	}
	t := p.BeginTransaction()
	receipts, err := p.SendWithTransaction(context.Background(), outgoing(c.Message), t)
	if err != nil {
		return err
	}
	r.MessageID = receipts[0].MessageID
	switch c.Resolution {
	case clients.Commit:
		return t.Commit()
	case clients.Rollback:
		return t.RollBack()
	}
	return nil
}
