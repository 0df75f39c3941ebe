package registration

import (
	"context"
	"fmt"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/client"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// routeTimeout bounds how long a client waits whose broker asks for it.
const routeTimeout = time.Second

// Queues asks the name servers, until one answers, which brokers have a topic, and with how many
// queues; none when none knows it.
func (s *Service) Queues(topic string) ([]remoting.QueueData, error) {
	ctx, cancel := context.WithTimeout(s.baseCtx, routeTimeout)
	defer cancel()
	var last error
	for _, l := range s.links {
		queues, err := queuesOf(ctx, l.addr, topic)
		if err == nil {
			return queues, nil
		}
		last = err
	}
	return nil, last
}

func queuesOf(ctx context.Context, addr, topic string) ([]remoting.QueueData, error) {
	conn, err := client.Dial(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("registration: %w", err)
	}
	defer conn.Close()
	var ext remoting.ExtWriter
	(&remoting.GetRouteInfoRequest{Topic: topic}).Encode(&ext)
	reply, err := conn.Exchange(ctx, remoting.GetRouteInfoByTopic, &ext, nil)
	if err != nil {
		return nil, fmt.Errorf("registration: route of %s: %w", topic, err)
	}
	if reply.Code != remoting.Success {
		return nil, nil // it does not know the topic
	}
	var route remoting.TopicRouteData
	if err := fastjson.Unmarshal(reply.Body, &route); err != nil {
		return nil, fmt.Errorf("registration: route of %s: %w", topic, err)
	}
	return route.QueueDatas, nil
}
