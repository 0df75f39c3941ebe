package admin

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// Group is one consumer group over all brokers.
type Group struct {
	Name    string   `json:"name"`
	Members []Member `json:"members"`
	// How its members consume, as their heartbeats say; "" while none is online.
	ConsumeType   string         `json:"consumeType,omitempty"`  // CONSUME_PASSIVELY, CONSUME_ACTIVELY, CONSUME_POP
	MessageModel  string         `json:"messageModel,omitempty"` // CLUSTERING, BROADCASTING
	Subscriptions []Subscription `json:"subscriptions"`
	Consuming     bool           `json:"consuming"` // false: an operator has switched it off
	Orderly       bool           `json:"orderly"`
	MaxRetries    int32          `json:"maxRetries"`
	Lag           int64          `json:"lag"`      // messages that it has not finished with
	InFlight      int64          `json:"inFlight"` // those of them that were given to its members
	// Delayed is as in GroupLag.
	Delayed map[string]int64 `json:"delayed,omitempty"`
	Dead    int64            `json:"dead"` // messages that it gave up
}

// Member is a client of a group.
type Member struct {
	ClientID string `json:"clientId"`
	Addr     string `json:"addr"`
	Language string `json:"language"`
}

// Subscription is what a group wants of a topic.
type Subscription struct {
	Topic string `json:"topic"`
	Type  string `json:"type"` // TAG or SQL92
	Text  string `json:"expression"`
}

// Groups lists the consumer groups by name, those that exist from a broker's start left out unless they
// have members. show is told how many of how many are asked about.
func (c *Client) Groups(ctx context.Context, show func(done, total int64)) ([]Group, error) {
	brokers, err := c.anyBroker(ctx)
	if err != nil {
		return nil, err
	}
	configs, err := c.groupConfigs(ctx, brokers)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(configs))
	list := make([]Group, len(names))
	err = each(len(names), show, func(i int) (err error) {
		list[i], err = c.group(ctx, brokers, configs[names[i]])
		return err
	})
	return slices.DeleteFunc(list, func(g Group) bool { return builtIn[g.Name] && len(g.Members) == 0 }), err
}

// builtIn are groups that the real broker and this one have from the start.
var builtIn = map[string]bool{
	"TOOLS_CONSUMER": true, "FILTERSRV_CONSUMER": true, "SELF_TEST_C_GROUP": true, "CID_ONS-HTTP-PROXY": true,
	"CID_ONSAPI_PULL": true, "CID_ONSAPI_PERMISSION": true, "CID_ONSAPI_OWNER": true, "CID_RMQ_SYS_TRANS": true,
	"CID_SYS_RMQ_TRANS": true, "__MONITOR_CONSUMER": true,
}

// Group is one group; ErrNotFound is wrapped when no broker knows it.
func (c *Client) Group(ctx context.Context, name string) (Group, error) {
	brokers, err := c.anyBroker(ctx)
	if err != nil {
		return Group{}, err
	}
	configs, err := c.groupConfigs(ctx, brokers)
	if err != nil {
		return Group{}, err
	}
	config, ok := configs[name]
	if !ok {
		return Group{}, fmt.Errorf("admin: group %q: %w", name, ErrNotFound)
	}
	return c.group(ctx, brokers, config)
}

// GroupNames lists the names of all groups but those that exist from a broker's start.
func (c *Client) GroupNames(ctx context.Context) ([]string, error) {
	brokers, err := c.anyBroker(ctx)
	if err != nil {
		return nil, err
	}
	configs, err := c.groupConfigs(ctx, brokers)
	maps.DeleteFunc(configs, func(name string, _ remoting.SubscriptionGroupConfig) bool { return builtIn[name] })
	return slices.Sorted(maps.Keys(configs)), err
}

// groupConfigs asks every broker for its groups (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).
func (c *Client) groupConfigs(ctx context.Context, brokers []Broker) (map[string]remoting.SubscriptionGroupConfig, error) {
	all := make(map[string]remoting.SubscriptionGroupConfig)
	for _, b := range brokers {
		var got remoting.SubscriptionGroupWrapper
		if err := c.read(ctx, b.Addr, remoting.GetAllSubscriptionGroupConfig, nil, &got); err != nil {
			return nil, err
		}
		maps.Copy(all, got.SubscriptionGroupTable)
	}
	return all, nil
}

func (c *Client) group(ctx context.Context, brokers []Broker, config remoting.SubscriptionGroupConfig) (Group, error) {
	g := Group{
		Name: config.GroupName, Consuming: config.ConsumeEnable, Orderly: config.ConsumeMessageOrderly, MaxRetries: config.RetryMaxTimes,
		Members: []Member{}, Subscriptions: []Subscription{},
	}
	lag := GroupLag{Group: g.Name}
	for _, b := range brokers {
		if err := c.addMembers(ctx, b, &g); err != nil {
			return g, err
		}
		if err := c.addLag(ctx, b, &lag); err != nil {
			return g, err
		}
		queues, err := c.queuesOf(ctx, b, message.PrefixDLQ+g.Name)
		if err != nil && !hasCode(err, remoting.TopicNotExist) {
			return g, err
		}
		for _, q := range queues {
			g.Dead += q.Max - q.Min
		}
	}
	g.Lag, g.InFlight, g.Delayed = lag.Lag, lag.InFlight, lag.Delayed
	return g, nil
}

// addMembers adds who is online at a broker (GET_CONSUMER_CONNECTION_LIST, 203).
func (c *Client) addMembers(ctx context.Context, b Broker, g *Group) error {
	var got remoting.ConsumerConnection
	err := c.read(ctx, b.Addr, remoting.GetConsumerConnectionList, &remoting.GetConsumerConnectionListRequest{ConsumerGroup: g.Name}, &got)
	if hasCode(err, remoting.ConsumerNotOnline) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, m := range got.ConnectionSet {
		if !slices.ContainsFunc(g.Members, func(known Member) bool { return known.ClientID == m.ClientID }) {
			g.Members = append(g.Members, Member{ClientID: m.ClientID, Addr: m.ClientAddr, Language: m.Language})
		}
	}
	g.ConsumeType, g.MessageModel = got.ConsumeType, got.MessageModel
	for _, topic := range slices.Sorted(maps.Keys(got.SubscriptionTable)) {
		s := got.SubscriptionTable[topic]
		if !slices.ContainsFunc(g.Subscriptions, func(known Subscription) bool { return known.Topic == topic }) {
			g.Subscriptions = append(g.Subscriptions, Subscription{Topic: topic, Type: s.ExpressionType, Text: s.SubString})
		}
	}
	return nil
}
