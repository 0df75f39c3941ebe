package control

import (
	"context"
	"fmt"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// readWrite is the permission of an ordinary topic.
const readWrite = 6

// CreateTopic makes a topic with as many read and write queues, or changes one that exists.
func (c *Control) CreateTopic(ctx context.Context, name string, queues int) error {
	req := remoting.CreateTopicRequest{
		Topic: name, DefaultTopic: message.TopicAutoCreate, ReadQueueNums: int32(queues), WriteQueueNums: int32(queues),
		Perm: readWrite, TopicFilterType: "SINGLE_TAG",
	}
	var ext remoting.ExtWriter
	req.Encode(&ext)
	return c.call(ctx, fmt.Sprintf("create topic %q", name), remoting.UpdateAndCreateTopic, &ext, nil)
}

// CreateGroup makes a subscription group whose messages are retried so many times before they
// become dead letters, or changes one that exists.
func (c *Control) CreateGroup(ctx context.Context, name string, maxRetry int) error {
	config := remoting.DefaultSubscriptionGroupConfig(name)
	config.RetryMaxTimes = int32(maxRetry)
	body, err := fastjson.Marshal(config)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	return c.call(ctx, fmt.Sprintf("create group %q", name), remoting.UpdateAndCreateSubscriptionGroup, nil, body)
}

// call has the broker do something, whose refusal is an error.
func (c *Control) call(ctx context.Context, what string, code int32, ext *remoting.ExtWriter, body []byte) error {
	b, err := c.live()
	if err != nil {
		return err
	}
	reply, err := b.Call(ctx, code, ext, body)
	if err != nil {
		return err
	}
	if reply.Code != remoting.Success {
		return fmt.Errorf("%s: %w", what, refusal(reply))
	}
	return nil
}

// refusal is the error of an answer that is no success.
func refusal(reply *remoting.Command) error {
	why := ErrInvalid
	switch reply.Code {
	case remoting.SystemBusy, remoting.ServiceNotAvailable, remoting.FlushDiskTimeout:
		why = ErrRefused
	}
	return fmt.Errorf("%w: %s (%d): %s", why, remoting.ResponseCodeName(reply.Code), reply.Code, reply.Remark)
}
