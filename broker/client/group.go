package client

import (
	"cmp"
	"maps"
	"slices"

	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/remoting"
)

// Message models and consume types of RocketMQ, as heartbeats spell them.
const (
	Broadcasting     = "BROADCASTING"
	Clustering       = "CLUSTERING"
	ConsumeActively  = "CONSUME_ACTIVELY"
	ConsumePassively = "CONSUME_PASSIVELY"
)

// Member is one client's channel in a group.
type Member struct {
	Conn     remoting.Conn
	ClientID string
	Language remoting.Language
	Version  int32
	// LastUpdate is the last heartbeat, ms of the wire clock, when the snapshot was taken.
	LastUpdate int64
}

// Subscription is what a group wants of one topic. It is immutable.
type Subscription struct {
	Topic           string
	Expression      string // "a || b", "*"
	ExpressionType  string // "TAG", "SQL92"
	Version         int64  // subVersion
	Tags            []string
	Codes           []int32
	ClassFilterMode bool

	// Filter decides what is delivered; nil when Err says why the expression cannot be used.
	Filter *filter.Filter
	Err    error
}

// Compile sets Filter and Err from the expression. The hashes that the client computed
// count in addition to ours: some clients announce tags only by hash.
func (s *Subscription) Compile() {
	s.Filter, s.Err = filter.Compile(s.ExpressionType, s.Expression)
	if s.Err == nil && filter.ByTag(s.ExpressionType) && !s.Filter.IsAll() && len(s.Codes)+len(s.Tags) > 0 {
		tags := append(filter.Split(s.Expression), s.Tags...)
		s.Filter = filter.Tags(tags, s.Codes)
	}
}

// ByTag tells whether the expression is one of tags.
func (s *Subscription) ByTag() bool { return s.kind() == filter.TypeTag }

// ConsumerGroup is a snapshot of a consumer group that is online.
type ConsumerGroup struct {
	Name             string
	ConsumeType      string
	MessageModel     string
	ConsumeFromWhere string
	Members          []Member // by client ID

	subscriptions map[string]*Subscription
}

// Broadcast tells whether every member gets every record.
func (g *ConsumerGroup) Broadcast() bool { return g.MessageModel == Broadcasting }

// Subscription returns what the group wants of a topic, or nil.
func (g *ConsumerGroup) Subscription(topic []byte) *Subscription {
	return g.subscriptions[string(topic)]
}

// Subscriptions returns all of the group's, by topic.
func (g *ConsumerGroup) Subscriptions() []*Subscription {
	list := make([]*Subscription, 0, len(g.subscriptions))
	for _, s := range g.subscriptions {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *Subscription) int { return cmp.Compare(a.Topic, b.Topic) })
	return list
}

// ClientIDs returns the members' client IDs, each once, sorted: clients divide the
// queues among them by this list.
func (g *ConsumerGroup) ClientIDs() []string {
	ids := make([]string, 0, len(g.Members))
	for _, m := range g.Members {
		ids = append(ids, m.ClientID)
	}
	return slices.Compact(ids)
}

// consumers is a consumer group as the registry changes it.
type consumers struct {
	name                                        string
	consumeType, messageModel, consumeFromWhere string
	notify                                      bool
	fingerprint                                 int32 // of the last heartbeat that carried subscriptions
	members                                     map[uint64]*Member
	subscriptions                               map[string]*Subscription
	announced                                   map[string]announcement       // by topic
	disputed                                    map[string]map[[2]string]bool // by topic: conflicts that were told
	view                                        *ConsumerGroup                // nil: to be rebuilt
}

func newConsumers(name string) *consumers {
	return &consumers{
		name: name, members: make(map[uint64]*Member), subscriptions: make(map[string]*Subscription),
		announced: make(map[string]announcement), disputed: make(map[string]map[[2]string]bool),
	}
}

// join adds or refreshes a member and tells whether it is new.
func (g *consumers) join(m Member, c *Consumer) (added bool) {
	known := g.members[m.Conn.ID()]
	added = known == nil || known.ClientID != m.ClientID
	if added || g.consumeType != c.ConsumeType || g.messageModel != c.MessageModel || g.consumeFromWhere != c.ConsumeFromWhere {
		g.view = nil
	}
	g.consumeType, g.messageModel, g.consumeFromWhere = c.ConsumeType, c.MessageModel, c.ConsumeFromWhere
	g.notify = c.Notify
	if added {
		g.members[m.Conn.ID()] = &m
	} else {
		known.LastUpdate = m.LastUpdate
	}
	return added
}

// subscribe replaces the group's subscriptions by a heartbeat's and tells whether a topic
// was added or removed. A newer version or expression alone is no change to the members.
func (g *consumers) subscribe(list []*Subscription, applied func(*Subscription)) (changed bool) {
	named := make(map[string]bool, len(list))
	for _, s := range list {
		named[s.Topic] = true
		old := g.subscriptions[s.Topic]
		if old != nil && s.Version <= old.Version {
			continue
		}
		g.subscriptions[s.Topic] = s
		g.view = nil
		applied(s)
		changed = changed || old == nil
	}
	for topic := range g.subscriptions {
		if !named[topic] {
			delete(g.subscriptions, topic)
			g.view = nil
			changed = true
		}
	}
	return changed
}

// snapshot returns the group as readers see it.
func (g *consumers) snapshot() *ConsumerGroup {
	view := &ConsumerGroup{
		Name: g.name, ConsumeType: g.consumeType, MessageModel: g.messageModel, ConsumeFromWhere: g.consumeFromWhere,
		Members:       sortedMembers(g.members),
		subscriptions: make(map[string]*Subscription, len(g.subscriptions)),
	}
	maps.Copy(view.subscriptions, g.subscriptions)
	return view
}

// conns are the channels to tell of a change, none when the group is not to be told.
func (g *consumers) conns() []remoting.Conn {
	if !g.notify || g.messageModel == Broadcasting {
		return nil
	}
	list := make([]remoting.Conn, 0, len(g.members))
	for _, m := range g.members {
		list = append(list, m.Conn)
	}
	return list
}

func sortedMembers(members map[uint64]*Member) []Member {
	list := make([]Member, 0, len(members))
	for _, m := range members {
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.ClientID, b.ClientID), cmp.Compare(a.Conn.ID(), b.Conn.ID()))
	})
	return list
}
