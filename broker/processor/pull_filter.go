package processor

import (
	"errors"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

// subscribed returns the filter of the request's own subscription, or else of what the
// group's heartbeats announced.
func (p *Pull) subscribed(ex *remoting.Exchange, req *remoting.PullMessageRequest, group *subscription.Config) (*filter.Filter, error) {
	if req.SysFlag&pullSubscription != 0 {
		return p.carried(req)
	}
	if p.opts.Groups.Forbids(req.ConsumerGroup, req.Topic) {
		return nil, forbid(ex, forbiddenPair, "the consumer group[%s] is forbidden for topic[%s]", req.ConsumerGroup, req.Topic)
	}
	online := p.opts.Clients.Group(req.ConsumerGroup)
	if online == nil {
		return p.unannounced(req, group, "the consumer's group info not exist"+faq, remoting.SubscriptionNotExist)
	}
	if online.Broadcast() && !group.ConsumeBroadcastEnable {
		return nil, forbid(ex, forbiddenBroadcast, "the consumer group[%s] can not consume by broadcast way", req.ConsumerGroup)
	}
	s := online.Subscription(req.Topic)
	switch {
	case s == nil:
		return p.unannounced(req, group, "the consumer's subscription not exist"+faq, remoting.SubscriptionNotExist)
	case s.Version < req.SubVersion:
		return p.unannounced(req, group, "the consumer's subscription not latest", remoting.SubscriptionNotLatest)
	}
	return p.announced(s)
}

// carried is the filter of a subscription that the pull carries. The real broker's order: an empty
// SQL92 expression is no expression whether such are served or not.
func (p *Pull) carried(req *remoting.PullMessageRequest) (*filter.Filter, error) {
	if !filter.ByTag(req.ExpressionType) && len(req.Subscription) > 0 {
		if err := served(p.opts.PropertyFilter, req.ExpressionType); err != nil {
			return nil, err
		}
	}
	f, err := p.exprs.Compile(req.ExpressionType, req.Subscription)
	if err != nil {
		p.opts.Differences.Use(difference.SubscriptionParseRefused)
		if len(req.Subscription) > filter.MaxSQL {
			p.opts.Differences.Use(difference.SQLBounded)
		}
	}
	return f, err
}

// announced is the filter of a heartbeat's subscription. One that the real broker could not compile
// is not there for it.
func (p *Pull) announced(s *client.Subscription) (*filter.Filter, error) {
	switch {
	case s.Err != nil && !filter.ByTag(s.ExpressionType):
		remark := "The broker's consumer filter data is not exist!Your expression may be wrong!"
		var reason *remoting.Error
		if errors.As(s.Err, &reason) {
			remark += " " + reason.Remark
		}
		return nil, &remoting.Error{Code: remoting.FilterDataNotExist, Remark: remark}
	case s.Err != nil:
		p.opts.Differences.Use(difference.SubscriptionParseRefused)
		return nil, s.Err
	case !filter.ByTag(s.ExpressionType):
		return s.Filter, served(p.opts.PropertyFilter, s.ExpressionType)
	}
	return s.Filter, nil
}

// served refuses a type of expressions while enablePropertyFilter is off.
func served[T string | []byte](propertyFilter func() bool, expressionType T) error {
	if propertyFilter != nil && propertyFilter() {
		return nil
	}
	return remoting.Errorf(remoting.SystemError, "The broker does not support consumer to filter message by %s", expressionType)
}
