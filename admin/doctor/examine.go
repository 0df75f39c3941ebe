package doctor

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/wheelmq/wheelmq/admin"
)

// Options say what is to be examined.
type Options struct {
	NameServers []string // host:port, as clients are told
	Topic       string   // "": none
	Timeout     time.Duration

	usualPort string // "": usualPort; tests have no say in who listens there
}

type examiner struct {
	Options
	report Report
}

// Examine goes the way of a client: it resolves and asks the name servers, asks for the topic's route,
// and connects to the brokers at the addresses that clients are told.
func Examine(ctx context.Context, opts Options) Report {
	if opts.Timeout <= 0 {
		opts.Timeout = admin.DefaultTimeout
	}
	if opts.usualPort == "" {
		opts.usualPort = usualPort
	}
	e := &examiner{Options: opts}
	if answering := e.nameServers(ctx); len(answering) > 0 {
		c := admin.New(admin.Options{NameServers: answering, Timeout: opts.Timeout})
		e.brokers(ctx, c)
		// What a connection ends with tells nothing more.
		_ = c.Close()
	}
	if e.report.Fault == None {
		e.report.Sentence = "everything answers"
		if e.Topic != "" {
			e.report.Sentence += ", and clients can use " + e.Topic
		}
	}
	return e.report
}

// nameServers looks at each name server and returns those that answer.
func (e *examiner) nameServers(ctx context.Context) (answering []string) {
	for _, addr := range e.NameServers {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			e.report.wrong(NotResolved, fmt.Sprintf("the name server %q is no host:port", addr))
			continue
		}
		found, err := resolve(ctx, host, e.Timeout)
		if err != nil {
			e.report.wrong(NotResolved, fmt.Sprintf("the host %s of the name server is not known here: %v", host, err))
			continue
		}
		if found != host {
			e.report.ok(host + " is " + found)
		}
		if e.isNameServer(ctx, host, port) {
			answering = append(answering, addr)
		}
	}
	return answering
}

func resolve(ctx context.Context, host string, timeout time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupHost(ctx, host)
	return strings.Join(addrs, ", "), err
}

// usualPort is where name servers listen when nobody says otherwise.
const usualPort = "9876"

// isNameServer tells whether a name server answers, and notes what is wrong when none does.
func (e *examiner) isNameServer(ctx context.Context, host, port string) bool {
	addr := net.JoinHostPort(host, port)
	found, err := e.probe(ctx, addr)
	switch found {
	case nameServer:
		e.report.ok("a name server answers at " + addr)
		return true
	case broker:
		e.report.wrong(WrongPort, addr+" is the port of a broker: clients want the name server's, which is "+usualPort+" unless set otherwise")
	case web:
		e.report.wrong(WrongPort, addr+" is an HTTP port: clients want the name server's, which is "+usualPort+" unless set otherwise")
	case stranger:
		e.report.wrong(WrongPort, addr+" answers, but not in RocketMQ's protocol: is it the right port?")
	case mute:
		e.report.wrong(NameServerDown, "connections to "+addr+" are taken, but nothing comes back: what listens there hangs, or speaks another protocol")
	case silent:
		e.report.wrong(NameServerDown, fmt.Sprintf("nothing comes back from %s: the machine is off, the address is wrong, or a firewall drops it (%v)", addr, err))
	case nobody:
		e.nobodyListens(ctx, host, port, addr)
	}
	return false
}

// nobodyListens tells a wrong port from a name server that is down, as far as the usual port tells.
func (e *examiner) nobodyListens(ctx context.Context, host, port, addr string) {
	usual := net.JoinHostPort(host, e.usualPort)
	if port != e.usualPort {
		if found, _ := e.probe(ctx, usual); found == nameServer {
			e.report.wrong(WrongPort, fmt.Sprintf("nothing listens at %s, but a name server answers at %s: the port is wrong", addr, usual))
			return
		}
	}
	e.report.wrong(NameServerDown, fmt.Sprintf("nothing listens at %s: the name server is down, or that is not its port", addr))
}
