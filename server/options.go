package server

import (
	"cmp"
	"fmt"
	"net"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/remoting"
)

// Pool bounds the workers of one class of requests.
type Pool struct {
	Workers int // goroutines; 0: 8
	Queue   int // requests that may wait for one; 0: 10,000
}

// Options of a Server. Zero values mean the defaults named at each field.
type Options struct {
	// Name tells the servers of one process apart in logs and metrics, e.g. "broker".
	Name string
	// Addr is host:port; an empty host is every address, port 0 any free port.
	Addr   string
	Router *remoting.Router
	// OnClose is called once for each connection when it is gone, on its event loop: it
	// must not block.
	OnClose func(remoting.Conn)
	// OnResponse gets the response frames that answer no Call; nil drops them. The command
	// is valid until it returns.
	OnResponse func(remoting.Conn, *remoting.Command)

	// RefusedAtStop are the request codes that are answered with SERVICE_NOT_AVAILABLE (14) while
	// the server stops, so that their clients try again soon. Other requests get no answer then:
	// some clients take any error for an answer.
	RefusedAtStop []int32

	IdleTimeout    time.Duration // without traffic in both directions; 120 s
	MaxFrame       int           // bytes, length word included; 16 777 216
	MaxOutbound    int           // bytes a client may leave unread; 64 MiB
	MaxConnections int           // beyond, new ones are closed at once; the file limit less 256
	NumEventLoop   int           // the number of CPUs
	// Pools per class; the row of Inline is not used.
	Pools [remoting.NumClasses]Pool

	// Observer hears of every request; nil for nobody.
	Observer remoting.Observer

	Log     logrus.FieldLogger
	Metrics prometheus.Registerer // nil for none
}

const (
	defaultIdleTimeout = 120 * time.Second
	defaultMaxOutbound = 64 << 20
	defaultWorkers     = 8
	defaultQueue       = 10_000
)

func (o Options) withDefaults() (Options, error) {
	if o.Router == nil {
		return o, fmt.Errorf("server %s: no router", o.Name)
	}
	host, port, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return o, fmt.Errorf("listen address %q: %w", o.Addr, err)
	}
	if host == "" {
		host = "0.0.0.0"
	}
	o.Addr, o.Name = net.JoinHostPort(host, port), cmp.Or(o.Name, "server")
	o.bound()
	if o.Log == nil {
		silent := logrus.New()
		silent.SetLevel(logrus.PanicLevel)
		o.Log = silent
	}
	o.Log = o.Log.WithField("server", o.Name)
	return o, nil
}

// bound sets the bounds that are not given.
func (o *Options) bound() {
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = defaultIdleTimeout
	}
	if o.MaxFrame <= 0 || o.MaxFrame > remoting.MaxFrameLength {
		o.MaxFrame = remoting.MaxFrameLength
	}
	if o.MaxOutbound <= 0 {
		o.MaxOutbound = defaultMaxOutbound
	}
	if o.MaxConnections <= 0 {
		o.MaxConnections = defaultMaxConnections()
	}
	if o.NumEventLoop <= 0 {
		o.NumEventLoop = runtime.GOMAXPROCS(0)
	}
	for i := range o.Pools {
		if o.Pools[i].Workers <= 0 {
			o.Pools[i].Workers = defaultWorkers
		}
		if o.Pools[i].Queue <= 0 {
			o.Pools[i].Queue = defaultQueue
		}
	}
}
