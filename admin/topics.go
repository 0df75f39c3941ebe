package admin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// Kinds of topics.
const (
	KindUser   = "user"
	KindRetry  = "retry" // of a consumer group
	KindDead   = "dead"  // what a group gave up
	KindSystem = "system"
)

// Permissions of a topic's queues.
const (
	permRead  = 4
	permWrite = 2
)

// Topic is one topic over all brokers.
type Topic struct {
	Name        string   `json:"name"`
	Kind        string   `json:"kind"`
	Brokers     []string `json:"brokers"`
	ReadQueues  int32    `json:"readQueues"`
	WriteQueues int32    `json:"writeQueues"`
	Perm        string   `json:"perm"`           // r, w, rw
	Type        string   `json:"type,omitempty"` // its attribute message.type
	Messages    int64    `json:"messages"`       // that its queues hold
	LastMs      int64    `json:"lastMs"`         // store time of the newest, ms since the epoch; 0: none
}

// Queue is one queue of a topic.
type Queue struct {
	Broker string `json:"broker"`
	ID     int32  `json:"queueId"`
	Min    int64  `json:"minOffset"`
	Max    int64  `json:"maxOffset"`
	LastMs int64  `json:"lastMs"` // store time of the newest message; 0: none
}

// Topics lists the topics by name. show is told how many of how many are asked about.
func (c *Client) Topics(ctx context.Context, show func(done, total int64)) ([]Topic, error) {
	brokers, err := c.anyBroker(ctx)
	if err != nil {
		return nil, err
	}
	table := make(map[string]*Topic)
	for _, b := range brokers {
		if err := c.topicsOf(ctx, b, table, show); err != nil {
			return nil, err
		}
	}
	names := slices.Sorted(maps.Keys(table))
	list := make([]Topic, len(names))
	for i, name := range names {
		list[i] = *table[name]
	}
	return list, nil
}

// topicsOf adds the topics of one broker (GET_ALL_TOPIC_CONFIG, 21).
func (c *Client) topicsOf(ctx context.Context, b Broker, table map[string]*Topic, show func(done, total int64)) error {
	configs, system, err := c.topicConfigs(ctx, b)
	if err != nil {
		return err
	}
	held := make([][]Queue, len(configs))
	err = each(len(configs), show, func(i int) (err error) {
		held[i], err = c.queuesOf(ctx, b, configs[i].TopicName)
		if hasCode(err, remoting.TopicNotExist) {
			// It was deleted meanwhile.
			return nil
		}
		return err
	})
	for i, config := range configs {
		addTopic(table, b, config, held[i], system)
	}
	return err
}

// addTopic adds what one broker has of a topic.
func addTopic(table map[string]*Topic, b Broker, config remoting.TopicConfig, queues []Queue, system map[string]bool) {
	t := table[config.TopicName]
	if t == nil {
		t = &Topic{Name: config.TopicName, Kind: kindOf(config.TopicName, system), Perm: permText(config.Perm), Type: config.Attributes["message.type"]}
		table[t.Name] = t
	}
	t.Brokers = append(t.Brokers, b.Name)
	t.ReadQueues += config.ReadQueueNums
	t.WriteQueues += config.WriteQueueNums
	for _, q := range queues {
		t.Messages += q.Max - q.Min
		t.LastMs = max(t.LastMs, q.LastMs)
	}
}

func (c *Client) topicConfigs(ctx context.Context, b Broker) (list []remoting.TopicConfig, system map[string]bool, err error) {
	var all remoting.TopicConfigWrapper
	if err := c.read(ctx, b.Addr, remoting.GetAllTopicConfig, nil, &all); err != nil {
		return nil, nil, err
	}
	var names remoting.TopicList
	if err := c.read(ctx, b.Addr, remoting.GetSystemTopicListFromBroker, nil, &names); err != nil {
		return nil, nil, err
	}
	system = make(map[string]bool)
	for _, name := range names.TopicList {
		system[name] = true
	}
	return slices.Collect(maps.Values(all.TopicConfigTable)), system, nil
}

func kindOf(name string, system map[string]bool) string {
	switch {
	case strings.HasPrefix(name, message.PrefixRetry):
		return KindRetry
	case strings.HasPrefix(name, message.PrefixDLQ):
		return KindDead
	case system[name] || strings.HasPrefix(name, message.PrefixSystem):
		return KindSystem
	}
	return KindUser
}

func permText(perm int32) string {
	text := ""
	if perm&permRead != 0 {
		text = "r"
	}
	if perm&permWrite != 0 {
		text += "w"
	}
	return cmp.Or(text, "none")
}

// Queues lists a topic's queues (GET_TOPIC_STATS_INFO, 202).
func (c *Client) Queues(ctx context.Context, topic string) ([]Queue, error) {
	route, err := c.Route(ctx, topic)
	if err != nil {
		return nil, err
	}
	var list []Queue
	for _, b := range route.Brokers {
		queues, err := c.queuesOf(ctx, b, topic)
		if err != nil {
			return nil, err
		}
		list = append(list, queues...)
	}
	return list, nil
}

func (c *Client) queuesOf(ctx context.Context, b Broker, topic string) ([]Queue, error) {
	var got struct {
		OffsetTable map[string]remoting.TopicOffset `json:"offsetTable"`
	}
	if err := c.read(ctx, b.Addr, remoting.GetTopicStatsInfo, &remoting.GetTopicStatsRequest{Topic: topic}, &got); err != nil {
		return nil, err
	}
	list := make([]Queue, 0, len(got.OffsetTable))
	for key, row := range got.OffsetTable {
		queue, err := queueKey(key)
		if err != nil {
			return nil, err
		}
		list = append(list, Queue{Broker: b.Name, ID: queue.QueueID, Min: row.MinOffset, Max: row.MaxOffset, LastMs: row.LastUpdateTimestamp})
	}
	slices.SortFunc(list, func(a, b Queue) int { return cmp.Compare(a.ID, b.ID) })
	return list, nil
}

// TopicNames lists the names of the topics that the name servers know
// (GET_ALL_TOPIC_LIST_FROM_NAMESERVER, 206).
func (c *Client) TopicNames(ctx context.Context) ([]string, error) {
	var got remoting.TopicList
	err := c.readNameServer(ctx, remoting.GetAllTopicListFromNameserver, nil, &got)
	slices.Sort(got.TopicList)
	return got.TopicList, err
}

// Readers lists the groups that are online for a topic or have committed offsets of it
// (QUERY_TOPIC_CONSUME_BY_WHO, 300).
func (c *Client) Readers(ctx context.Context, topic string) ([]string, error) {
	route, err := c.Route(ctx, topic)
	if err != nil {
		return nil, err
	}
	groups := []string{}
	for _, b := range route.Brokers {
		var got struct {
			GroupList []string `json:"groupList"`
		}
		if err := c.read(ctx, b.Addr, remoting.QueryTopicConsumeByWho, &remoting.TopicRequest{Topic: topic}, &got); err != nil {
			return nil, err
		}
		groups = append(groups, got.GroupList...)
	}
	slices.Sort(groups)
	return slices.Compact(groups), nil
}

// queueKey reads a table's key that is a queue.
func queueKey(key string) (queue remoting.MessageQueue, err error) {
	if err = fastjson.Unmarshal([]byte(key), &queue); err != nil {
		err = fmt.Errorf("admin: %q names no queue: %w", key, err)
	}
	return queue, err
}

// CreateTopic makes or changes a topic on every broker (UPDATE_AND_CREATE_TOPIC, 17). kind, which may be
// "", is its attribute message.type.
func (c *Client) CreateTopic(ctx context.Context, name string, queues int32, kind string) error {
	brokers, err := c.anyBroker(ctx)
	if err != nil {
		return err
	}
	request := &remoting.CreateTopicRequest{
		Topic: name, DefaultTopic: message.TopicAutoCreate, ReadQueueNums: queues, WriteQueueNums: queues,
		Perm: permRead | permWrite, TopicFilterType: "SINGLE_TAG",
	}
	if kind != "" {
		request.Attributes = "+message.type=" + kind
	}
	for _, b := range brokers {
		if _, err := c.ask(ctx, b.Addr, remoting.UpdateAndCreateTopic, request, nil); err != nil {
			return fmt.Errorf("admin: topic %q on %s: %w", name, b.Name, err)
		}
	}
	return nil
}

// deleteWait is how long deleting a topic may take beyond Options.Timeout: a broker answers when
// the files of all its queues are gone.
const deleteWait = time.Minute

// DeleteTopic deletes a topic and its messages on every broker (215), then from the name servers (216).
func (c *Client) DeleteTopic(ctx context.Context, name string) error {
	route, err := c.Route(ctx, name)
	if err != nil {
		return err
	}
	for _, b := range route.Brokers {
		if _, err := c.askPatiently(ctx, b.Addr, remoting.DeleteTopicInBroker, &remoting.DeleteTopicRequest{Topic: name}, deleteWait); err != nil {
			return fmt.Errorf("admin: topic %q on %s: %w", name, b.Name, err)
		}
	}
	for _, addr := range c.opts.NameServers {
		if _, err := c.ask(ctx, addr, remoting.DeleteTopicInNamesrv, &remoting.DeleteTopicInNamesrvRequest{Topic: name}, nil); err != nil {
			return fmt.Errorf("admin: topic %q in the name server: %w", name, err)
		}
	}
	return nil
}
