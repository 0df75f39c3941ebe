package processor

import (
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/remoting"
)

// subscriptionKey is whose filter it is, and the filter.
type subscriptionKey struct{ group, topic, kind, expression string }

// maxBroken bounds what is remembered of broken filters.
const maxBroken = 1024

// brokenFilters is whose filters were logged as broken: consumers come again with them, many times a second.
type brokenFilters struct {
	mu     sync.Mutex // guards logged
	logged map[subscriptionKey]struct{}
}

// first tells whether a filter was not seen before.
func (b *brokenFilters) first(k subscriptionKey) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.logged[k]; known {
		return false
	}
	if b.logged == nil || len(b.logged) >= maxBroken {
		b.logged = make(map[subscriptionKey]struct{})
	}
	b.logged[k] = struct{}{}
	return true
}

// compile is the filter of a subscription. What is wrong with it stands in the log once for each, since the
// remark that clients get does not say.
func (p *Pop) compile(group, topicName, kind, expression []byte) (*filter.Filter, error) {
	f, err := p.exprs.Compile(kind, expression)
	if err == nil {
		return f, nil
	}
	if p.broken.first(subscriptionKey{string(group), string(topicName), string(kind), string(expression)}) {
		p.opts.Log.WithError(err).WithFields(logrus.Fields{"group": string(group), "topic": string(topicName)}).
			Warn("the filter of a group cannot be read: its pops are refused")
	}
	return nil, &remoting.Error{Code: remoting.SubscriptionParseFailed, Remark: "parse the consumer's subscription failed"}
}
