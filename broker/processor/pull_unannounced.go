package processor

import (
	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

// unannounced serves a pull that comes before the heartbeat that tells its subscription, where the
// real broker answers code and remark. It does so when nothing can be missed by it: the very version
// that the client names is remembered, or the client subscribes by tag, gets everything, and looks
// at the tags itself. Clients of the Go kind name neither version nor kind (version 0 and TAG
// always), so theirs must be remembered as one by tag.
func (p *Pull) unannounced(req *remoting.PullMessageRequest, group *subscription.Config, remark string, code int32) (*filter.Filter, error) {
	s := p.opts.Clients.Remembered(req.ConsumerGroup, req.Topic)
	f := known(req, s)
	if f == nil || !group.ConsumeBroadcastEnable || !p.opts.Differences.Use(difference.PullBeforeHeartbeat) {
		return nil, &remoting.Error{Code: code, Remark: remark}
	}
	if f.ByProperties() {
		return f, served(p.opts.PropertyFilter, s.ExpressionType)
	}
	return f, nil
}

// known is the filter of a pull whose group has not told its subscription; nil: it has to wait.
func known(req *remoting.PullMessageRequest, remembered *client.Subscription) *filter.Filter {
	byTag := filter.ByTag(req.ExpressionType)
	switch {
	case remembered != nil && req.SubVersion != 0 && remembered.Version == req.SubVersion:
		return remembered.Filter
	case byTag && req.SubVersion != 0:
		return filter.All
	case byTag && remembered != nil && remembered.ByTag():
		return filter.All
	}
	return nil
}
