package exchangelog

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/remoting"
)

// DefaultSize is how many exchanges are kept.
const DefaultSize = 50

const (
	// routinePlaces is how many of the rows are left to what idle clients repeat, when there is
	// more to show.
	routinePlaces = 10
	// maxRoutine and maxNames bound what is remembered of clients that come and go.
	maxRoutine = 1000
	maxNames   = 10_000
	maxOpen    = 10_000
)

// Exchange is one request and its answer.
type Exchange struct {
	At       time.Time // real time
	Server   string    // broker or namesrv
	Client   string    // host:port, and the client ID once a heartbeat has told it
	Code     int32
	Name     string // RocketMQ's constant, e.g. SEND_MESSAGE_V2
	Topic    string // of the request
	Group    string
	QueueID  string
	Offset   string // stored at, committed, or asked for and where to go on: 3->5
	Result   string // the response code's name; held, dropped, closed, oneway; ×12: the last of so many
	Remark   string
	Duration time.Duration // until the answer left, or until now; without a rule's delay
	Fault    string        // ID of the rule that applied
}

// Options are what a Log needs.
type Options struct {
	Wire clock.Clock
	Size int // exchanges kept; 0: DefaultSize
}

// Log keeps the last exchanges. It outlives restarts of the servers that it listens to; its
// methods are safe for concurrent use.
type Log struct {
	opts Options

	mu      sync.Mutex // guards what follows, and every entry
	seq     int64
	ring    []*entry // the last that say something, oldest at head
	head    int
	open    map[*entry]struct{} // not answered
	routine map[routineKey]*entry
	names   map[uint64]string // client IDs by connection
}

// entry is an exchange on its way, or past.
type entry struct {
	log     *Log
	conn    remoting.Conn // nil once it is answered, as plan
	plan    *remoting.Plan
	connID  uint64
	addr    netip.AddrPort
	oneway  bool
	seq     int64
	started int64 // ms
	times   int   // of a routine
	x       Exchange
}

// routineKey is what makes two exchanges the same to a reader.
type routineKey struct {
	server              string
	conn                uint64
	code                int32
	topic, group, queue string
}

// New returns an empty Log.
func New(opts Options) *Log {
	if opts.Size <= 0 {
		opts.Size = DefaultSize
	}
	l := &Log{opts: opts}
	l.reset()
	return l
}

func (l *Log) reset() {
	l.ring, l.head = nil, 0
	l.open, l.routine = make(map[*entry]struct{}), make(map[routineKey]*entry)
	l.names = make(map[uint64]string)
}

// Clear forgets everything.
func (l *Log) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reset()
}

// Before is the step of a router by which a server's exchanges are kept, the first of its steps.
// server is its name in the rows.
func (l *Log) Before(server string) remoting.Step {
	return func(ex *remoting.Exchange, _ *remoting.Route) error {
		e := &entry{
			log: l, conn: ex.Conn, plan: ex.Plan(), connID: ex.Conn.ID(), addr: ex.Conn.RemoteAddr(), oneway: ex.Req.IsOneway(),
			started: l.opts.Wire.NowMillis(),
		}
		e.x = Exchange{Server: server, Code: ex.Req.Code, Name: remoting.RequestCodeName(ex.Req.Code)}
		e.readRequest(&ex.Req)
		e.plan.OnReply = e.answered
		l.begin(e, clientID(&ex.Req))
		return nil
	}
}

func (l *Log) begin(e *entry, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	e.seq = l.seq
	if id != "" {
		if len(l.names) >= maxNames {
			clear(l.names)
		}
		l.names[e.connID] = id
	}
	if len(l.open) >= maxOpen {
		l.forgetGone()
	}
	l.open[e] = struct{}{}
}

// forgetGone forgets what will not be answered: the server that held it is gone. Caller holds mu.
func (l *Log) forgetGone() {
	for e := range l.open {
		if e.conn.Closed() {
			delete(l.open, e)
		}
	}
}

// answered is the plan's OnReply.
func (e *entry) answered(reply *remoting.Reply) {
	l := e.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.open[e]; !open {
		return // forgotten meanwhile
	}
	delete(l.open, e)
	e.readReply(reply, l.opts.Wire.NowMillis())
	routine := e.isRoutine(reply.Code)
	e.conn, e.plan = nil, nil
	if routine {
		l.keepRoutine(e)
		return
	}
	if len(l.ring) < l.opts.Size {
		l.ring = append(l.ring, e)
		return
	}
	l.ring[l.head] = e
	l.head = (l.head + 1) % len(l.ring)
}

func (l *Log) keepRoutine(e *entry) {
	key := e.key()
	e.times = 1
	if old := l.routine[key]; old != nil {
		e.times = old.times + 1
	} else if len(l.routine) >= maxRoutine {
		clear(l.routine)
	}
	l.routine[key] = e
}

func (e *entry) key() routineKey {
	return routineKey{e.x.Server, e.connID, e.x.Code, e.x.Topic, e.x.Group, e.x.QueueID}
}

// Last returns the last exchanges, oldest first: those without an answer, those that say
// something, and as many of the rest as there is room for.
func (l *Log) Last() []Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgetGone()
	telling, rest := slices.Clone(l.ring), make([]*entry, 0, len(l.open)+len(l.routine))
	for e := range l.open {
		if e.isPull() {
			rest = append(rest, e)
		} else {
			telling = append(telling, e)
		}
	}
	for _, e := range l.routine {
		rest = append(rest, e)
	}
	byAge := func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) }
	slices.SortFunc(telling, byAge)
	slices.SortFunc(rest, byAge)
	places := max(min(routinePlaces, l.opts.Size/5), l.opts.Size-len(telling))
	rest = rest[max(0, len(rest)-places):]
	telling = telling[max(0, len(telling)-(l.opts.Size-len(rest))):]
	all := append(telling, rest...)
	slices.SortFunc(all, byAge)
	list := make([]Exchange, len(all))
	for i, e := range all {
		list[i] = l.row(e)
	}
	return list
}
