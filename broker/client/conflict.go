package client

import (
	"slices"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/filter"
)

// maxDisputes is how many conflicts about one topic a group is warned of.
const maxDisputes = 16

// announcement is who told of a subscription last, and what.
type announcement struct {
	clientID string
	sub      *Subscription // nil: to none of the topic
}

// conflict is a topic that two members of one group subscribe to differently. Messages are filtered
// by the latest subscription for both, so one of them misses what it asked for.
type conflict struct {
	group, topic string
	one, other   announcement
}

// disagree compares a member's subscriptions with what the rest of the group announced, and returns
// the conflicts that are new. Who has left, or asks for something else by now, is no party.
func (g *consumers) disagree(clientID string, list []*Subscription) (found []conflict) {
	named := make(map[string]*Subscription, len(list))
	for _, s := range list {
		named[s.Topic] = s
	}
	for topic, last := range g.announced {
		s := named[topic]
		mine := last.clientID == clientID
		switch {
		case s != nil && s.same(last.sub):
			if !mine {
				delete(g.disputed, topic)
			}
		case mine || !g.has(last.clientID):
			if s == nil {
				delete(g.announced, topic)
				delete(g.disputed, topic)
			}
		default:
			if now := (announcement{clientID, s}); g.isNew(topic, last, now) {
				found = append(found, conflict{g.name, topic, last, now})
			}
		}
	}
	for topic, s := range named {
		g.announced[topic] = announcement{clientID, s}
	}
	return found
}

// isNew notes a conflict and tells whether it was not known, from whichever side. Of many only the
// first are told.
func (g *consumers) isNew(topic string, one, other announcement) bool {
	a, b := one.text(), other.text()
	pair := [2]string{min(a, b), max(a, b)}
	known := g.disputed[topic]
	if known[pair] || len(known) >= maxDisputes {
		return false
	}
	if known == nil {
		known = make(map[[2]string]bool)
		g.disputed[topic] = known
	}
	known[pair] = true
	return true
}

func (g *consumers) has(clientID string) bool {
	for _, m := range g.members {
		if m.ClientID == clientID {
			return true
		}
	}
	return false
}

// same tells whether two subscriptions want the same: tags may be in any order.
func (s *Subscription) same(other *Subscription) bool {
	if s.kind() != other.kind() {
		return false
	}
	return s.Expression == other.Expression || s.kind() == filter.TypeTag && slices.Equal(s.sortedTags(), other.sortedTags())
}

func (s *Subscription) sortedTags() []string {
	tags := filter.Split(s.Expression)
	slices.Sort(tags)
	return slices.Compact(tags)
}

// kind is the expression type, which some clients leave out when it is TAG.
func (s *Subscription) kind() string {
	if s.ExpressionType == "" {
		return filter.TypeTag
	}
	return s.ExpressionType
}

func (a announcement) text() string {
	if a.sub == nil {
		return "no subscription"
	}
	return a.sub.kind() + " " + a.sub.Expression
}

// warn tells the operator of conflicts, once for each. r.mu is not held.
func (r *Registry) warn(conflicts []conflict) {
	for _, c := range conflicts {
		r.conflicts.Add(1)
		r.opts.Log.WithFields(logrus.Fields{
			"group": c.group, "topic": c.topic, "clientId": c.one.clientID, "subscription": c.one.text(),
			"otherClientId": c.other.clientID, "otherSubscription": c.other.text(),
		}).Warn("members of one group subscribe differently: the latest subscription filters for all of them")
	}
}
