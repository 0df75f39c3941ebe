package timer

// farPart keeps the entries of seconds from nearEnd on, with their records, until those seconds
// are read. All but sync and Job.Run is called by the Timeline's owner only.
type farPart interface {
	// add keeps an entry and a copy of its record in a second from nearEnd on. It returns an
	// error, and has changed nothing, when there is no space. An entry's Due need not lie in
	// its slot: both must come back.
	add(e Entry, slot int64, record []byte) error
	// leave has what comes for a slot go to another file than the last.
	leave(slot int64)
	// has tells whether a scan at open, without saved state, found the entry with this log
	// offset in a slot; false ever after an open by a saved state. Its second may be near by now.
	has(slot, logOffset int64) bool
	// next is the first second >= from that may have entries.
	next(from int64) (second int64, ok bool)
	// firstDue is the exact Due of the message (no cancel) that is due first, of all that are not
	// done, and the second it is kept in.
	firstDue() (ms, second int64, ok bool)
	// following is the first second >= from that may have entries, of an hour or a day that has.
	following(from int64) (second int64, ok bool)
	// stretch is the end of what a second is sorted together with when its hour is not: of its hour
	// or day. Else it is the next second.
	stretch(second int64) (end int64)
	// browse gives everything that has entries of [from, to), to be read by whoever wants to: no
	// file of it goes until browsed was called as often.
	browse(from, to int64) []source
	browsed()
	// count is about how many entries a second has.
	count(second int64) int64
	// read gives the entries of a second below nearEnd, equal instants in arrival order, nil when
	// there are none. The error is ErrNotReady while its hour is not sorted.
	read(second int64) (farReader, error)
	// done lets everything go that is kept in seconds <= second. What is done stays done: it may
	// be called with an earlier second again.
	done(second int64)
	// prepare closes what lies before nearEnd (a whole hour, in seconds) to new arrivals and
	// returns what must be split or sorted with now (ms) on the clock. A job that is given out
	// and not finished is not given out again.
	prepare(nearEnd, now int64) []Job
	// finish takes in what a job that ran has made, or gives up one whose Run failed: it comes
	// again with a later prepare.
	finish(job Job) error
	// state names what a checkpoint would name, with exact lengths and counts.
	state() ([]byte, error)
	// sync makes durable what the last state named. It may run beside everything but state,
	// saved and close.
	sync() error
	// saved tells that a state is durable: files that it does not name and nobody uses go.
	saved(state []byte) error
	// stats fills the fields of far entries.
	stats(s *Stats)
	close() error
}

// farReader gives the far entries of one second. What it gave is valid until its close, whatever
// is called on the farPart meanwhile: a file that a reader uses is not unmapped.
type farReader interface {
	next() (Item, bool)
	// inOrder tells that they come by due, equal ones in arrival order.
	inOrder() bool
	err() error
	// hole is what it did not give because of damage, at the end.
	hole() Hole
	close()
}

// Job is work on files that are closed to new arrivals: splitting a day, sorting an hour. Its
// Run may be called on any goroutine; then, error or not, Timeline.Finish by the owner.
type Job interface {
	Run() error
	// Sorts tells that entries can only be read in order when it is done; other jobs tidy up.
	Sorts() bool
	// Lost is what a Run that has not failed met damage instead of; nil: nothing.
	Lost() *Lost
	// Stop has a Run that is under way end soon, with an error: what is long to do comes again. It
	// may be called from anywhere.
	Stop()
}
