package remoting

// Outcome is what became of a request.
type Outcome uint8

// Outcomes, as the label result of RocketMQ's metrics tells them apart.
const (
	Answered  Outcome = iota
	Oneway            // no answer is wanted
	Cancelled         // the client was gone before its answer
	Failed            // the handler went wrong in a way that clients are not told
	NumOutcomes
)

// Observer hears of every request that is done with. Its methods are called on event loops: they must be
// quick, allocate nothing, and not block.
type Observer interface {
	// NowMillis is real time, ms.
	NowMillis() int64
	// Served is told the row of a request, the code of its answer, how long that took from when the request
	// was read, ms, whether the answer came when the handler had returned, and what became of it.
	Served(route *Route, code int32, tookMs int64, deferred bool, outcome Outcome)
}

// watched is what an Observer is to be told of an exchange.
type watched struct {
	by       Observer // nil: nobody watches
	route    *Route   // nil: a code without a row, which is not told
	received int64    // ms
	failed   bool
}

// of notes the row of a request, unless it is of a code without one.
func (w *watched) of(route *Route) {
	if w.by != nil && route.Name != "" {
		w.route = route
	}
}

// Watch has an observer told of the exchange, which was received at an instant, ms. It is for servers, right
// after Begin.
func (ex *Exchange) Watch(by Observer, receivedMs int64) {
	ex.watched = watched{by: by, received: receivedMs}
}

// ReceivedMs is when the request was read, ms of the observer's clock; 0 when nobody watches.
func (ex *Exchange) ReceivedMs() int64 { return ex.watched.received }

// Served is a request whose handler has returned, with what its Observer is to be told.
type Served struct {
	watched watched
	code    int32
	outcome Outcome
}

// Served returns what is to be told when the answer is written; false when nobody watches, or when the
// answer was deferred: its Pending tells.
func (ex *Exchange) Served() (s Served, told bool) {
	if ex.watched.by == nil || ex.watched.route == nil || ex.deferred {
		return s, false
	}
	s = Served{watched: ex.watched, code: ex.Reply.Code}
	if ex.Req.IsOneway() {
		s.outcome = Oneway
	}
	return s, true
}

// Tell tells the observer, at an instant, ms.
func (s *Served) Tell(nowMs int64) { s.watched.tell(s.code, nowMs, false, s.outcome) }

func (w *watched) tell(code int32, nowMs int64, deferred bool, outcome Outcome) {
	if w.by == nil || w.route == nil {
		return
	}
	if w.failed {
		outcome = Failed
	}
	w.by.Served(w.route, code, max(0, nowMs-w.received), deferred, outcome)
}
