package admin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/wheelmq/wheelmq/remoting"
)

// masterID is the broker id of a master.
const masterID = 0

// Broker is a master that is registered with the name servers.
type Broker struct {
	Name    string `json:"name"`
	Cluster string `json:"cluster"`
	Addr    string `json:"addr"` // host:port as clients are told
}

// Brokers lists the masters by name (GET_BROKER_CLUSTER_INFO, 106).
func (c *Client) Brokers(ctx context.Context) ([]Broker, error) {
	var info remoting.ClusterInfo
	if err := c.readNameServer(ctx, remoting.GetBrokerClusterInfo, nil, &info); err != nil {
		return nil, err
	}
	return masters(slices.Collect(maps.Values(info.BrokerAddrTable))), nil
}

func masters(datas []remoting.BrokerData) []Broker {
	var list []Broker
	for _, data := range datas {
		if addr := data.BrokerAddrs[masterID]; addr != "" {
			list = append(list, Broker{Name: data.BrokerName, Cluster: data.Cluster, Addr: addr})
		}
	}
	slices.SortFunc(list, func(a, b Broker) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// anyBroker refuses when there is none to ask.
func (c *Client) anyBroker(ctx context.Context) ([]Broker, error) {
	brokers, err := c.Brokers(ctx)
	if err == nil && len(brokers) == 0 {
		err = fmt.Errorf("admin: no broker is registered with the name server: %w", ErrNotFound)
	}
	return brokers, err
}

// Route is where a topic's queues are.
type Route struct {
	Brokers []Broker
	Queues  []remoting.QueueData
}

// Broker is the broker of a name; "" when the route has none.
func (r *Route) Broker(name string) Broker {
	for _, b := range r.Brokers {
		if b.Name == name {
			return b
		}
	}
	return Broker{}
}

// Usable are how many queues may be read and written at masters.
func (r *Route) Usable() (read, write int32) {
	for _, q := range r.Queues {
		if r.Broker(q.BrokerName).Addr == "" {
			continue
		}
		if q.Perm&permRead != 0 {
			read += q.ReadQueueNums
		}
		if q.Perm&permWrite != 0 {
			write += q.WriteQueueNums
		}
	}
	return read, write
}

// Route asks for a topic's route (GET_ROUTEINFO_BY_TOPIC, 105). ErrNotFound is wrapped when no name
// server knows the topic, or any broker.
func (c *Client) Route(ctx context.Context, topic string) (*Route, error) {
	var data remoting.TopicRouteData
	err := c.readNameServer(ctx, remoting.GetRouteInfoByTopic, &remoting.GetRouteInfoRequest{Topic: topic}, &data)
	if hasCode(err, remoting.TopicNotExist) {
		// No topic has a route while its brokers start.
		if _, err := c.anyBroker(ctx); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("admin: topic %q: %w", topic, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return &Route{Brokers: masters(data.BrokerDatas), Queues: data.QueueDatas}, nil
}
