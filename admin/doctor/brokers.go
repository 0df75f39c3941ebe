package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/message"
)

// brokers looks at what is registered, at the topic's route, and at the brokers' addresses.
func (e *examiner) brokers(ctx context.Context, c *admin.Client) {
	registered, err := c.Brokers(ctx)
	if err != nil {
		e.report.wrong(NameServerDown, fmt.Sprintf("the name server does not tell its brokers: %v", err))
		return
	}
	if len(registered) == 0 {
		e.report.wrong(NotRegistered, "no broker is registered with the name server: it is down, still starting, or its namesrvAddr names another name server")
		return
	}
	e.report.ok(fmt.Sprintf("brokers registered: %d", len(registered)))
	if e.Topic != "" {
		registered = e.route(ctx, c)
	}
	for _, b := range registered {
		e.reach(ctx, b)
	}
}

// route asks for the topic's route and returns its brokers.
func (e *examiner) route(ctx context.Context, c *admin.Client) []admin.Broker {
	route, err := c.Route(ctx, e.Topic)
	switch {
	case errors.Is(err, admin.ErrNotFound):
		e.missing(ctx, c)
		return nil
	case err != nil:
		e.report.wrong(NameServerDown, fmt.Sprintf("the name server does not tell the route of %s: %v", e.Topic, err))
		return nil
	}
	read, written := route.Usable()
	switch {
	case len(route.Brokers) == 0:
		e.report.wrong(TopicNotUsable, "the route of "+e.Topic+" has no master: only replicas are left, which take no messages")
	case written == 0:
		e.report.wrong(TopicNotUsable, "no queue of "+e.Topic+" may be written to: it has none, or its permission or its broker's forbids it")
	case read == 0:
		e.report.wrong(TopicNotUsable, "no queue of "+e.Topic+" may be read: it has none, or its permission forbids it")
	default:
		e.report.ok(fmt.Sprintf("%s has a route: %d queues to write to, %d to read", e.Topic, written, read))
	}
	return route.Brokers
}

// missing tells that there is no route, and whether a send would make one.
func (e *examiner) missing(ctx context.Context, c *admin.Client) {
	says := "the topic " + e.Topic + " does not exist"
	if _, err := c.Route(ctx, message.TopicAutoCreate); err == nil {
		says += ": the first send creates it, consumers wait for that"
	} else {
		says += ", and no broker creates topics for sends: wheelmq topics create " + e.Topic
	}
	e.report.wrong(TopicMissing, says)
}

// reach connects to a broker where clients are told that it is.
func (e *examiner) reach(ctx context.Context, b admin.Broker) {
	found, err := e.probe(ctx, b.Addr)
	if found == broker || found == nameServer {
		e.report.ok(b.Name + " answers at " + b.Addr + ", where clients look for it")
		return
	}
	why := "something else answers there"
	switch found {
	case nobody:
		why = "nothing listens there"
	case mute:
		e.report.wrong(Unreachable, b.Name+" at "+b.Addr+", where clients are told to look for it, takes connections and answers nothing: it hangs, or something else listens there")
		return
	case silent:
		why = fmt.Sprintf("nothing comes back from there: %v", err)
	}
	says := fmt.Sprintf("clients are told that %s is at %s, but %s", b.Name, b.Addr, why)
	if onlyLocal(b.Addr) {
		says += "; that address is of the own machine only"
	}
	e.report.wrong(Unreachable, says+": set brokerIP1 and listenPort of the broker, or advertise, to what clients reach")
}

// onlyLocal tells whether an address means another machine to every client.
func onlyLocal(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
