package remoting

// Reply is what a handler answers. Code 0 is SUCCESS.
type Reply struct {
	Code   int32
	Remark string
	Ext    ExtWriter
	Body   []byte   // copied into the frame; may alias anything
	Parts  [][]byte // follow Body and are not copied: slices of the mapped log
	// Release, when not nil, is called once the Parts were written or dropped.
	Release func()
}

// Reset empties the reply and keeps its memory. It does not call Release.
func (r *Reply) Reset() {
	r.Code, r.Remark, r.Body, r.Release = 0, "", nil, nil
	r.Parts = r.Parts[:0]
	r.Ext.Reset()
}

// Exchange is one request on its way through the server. The server owns and reuses
// it; a handler touches it only until it returns.
type Exchange struct {
	Conn  Conn
	Req   Command
	Reply Reply

	deferred bool
	plan     *Plan
	watched  watched
}

// Defer makes the handler's return send nothing; the answer is sent by the returned
// Pending, from any goroutine, once. It copies what it needs, so the exchange may be
// reused at once. Reply contents set before Defer are not carried over.
func (ex *Exchange) Defer() *Pending {
	ex.deferred = true
	return newPending(ex)
}

// Plan is what becomes of the answer, made at the first call: for steps before the handler.
func (ex *Exchange) Plan() *Plan {
	if ex.plan == nil {
		ex.plan = new(Plan)
	}
	return ex.plan
}

// Deferred tells the server to send nothing: the reply comes through a Pending, or its Plan has
// taken it.
func (ex *Exchange) Deferred() bool { return ex.deferred }

// Begin prepares the exchange for the next request.
func (ex *Exchange) Begin(conn Conn) {
	ex.Conn, ex.deferred, ex.plan, ex.watched = conn, false, nil, watched{}
	ex.Reply.Reset()
}
