package transaction

import (
	"strconv"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// The first four remarks are the real broker's.
var (
	errNotFound = &remoting.Error{Code: remoting.SystemError, Remark: "Find prepared transaction message failed"}
	errGroup    = &remoting.Error{Code: remoting.SystemError, Remark: "The producer group wrong"}
	errOffset   = &remoting.Error{Code: remoting.SystemError, Remark: "The transaction state table offset wrong"}
	errLog      = &remoting.Error{Code: remoting.SystemError, Remark: "The commit log offset wrong"}
	errLate     = &remoting.Error{Code: remoting.IllegalOperation,
		Remark: "CHECK_IMMUNITY_TIME_IN_SECONDS is over: only the answer to a check ends the transaction"}
	errEnding = &remoting.Error{Code: remoting.SystemBusy, Remark: "the transaction is just being ended"}
)

// Ending is the scratch of one end of a transaction, to be used again and again.
type Ending struct {
	// Done is told how it went, on a goroutine of the store, after an End that waits. Set it once.
	Done func(error)

	s       *Service
	rec     message.Record
	props   []byte
	scratch []byte
	offset  int64 // of the half message
	since   int64
	counts  *topicCounts
}

// End commits or rolls back a transaction (request code 37); req says neither only by mistake. A
// commit is stored once: one that is repeated is a success. Waits: e.Done is told the result, and e
// and what req refers to must live until then.
func (s *Service) End(req *remoting.EndTransactionRequest, e *Ending) (waits bool, err error) {
	defer store.CatchFault(&err)
	slice, err := s.opts.Log.Record(req.CommitLogOffset, 0)
	if err != nil {
		return false, errNotFound
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return false, errNotFound
	}
	h, err := readHalf(&v)
	if err != nil {
		return false, errNotFound
	}
	if err := s.mayEnd(req, &h); err != nil {
		return false, err
	}
	e.s, e.offset, e.since, e.counts = s, v.QueueOffset, h.since(), s.counts.of(h.realTopic)
	if req.CommitOrRollback == message.SysFlagRollback {
		return false, s.rollback(e)
	}
	return s.commit(&h, e)
}

// mayEnd is why a request does not end a transaction, in the order of the real broker's checks.
func (s *Service) mayEnd(req *remoting.EndTransactionRequest, h *half) error {
	switch {
	case !req.FromTransactionCheck && h.late(&s.rules.Load().Times, s.opts.Store.NowMillis()):
		return errLate
	case string(h.group) != req.ProducerGroup:
		return errGroup
	case h.v.QueueOffset != req.TranStateTableOffset:
		return errOffset
	case h.v.CommitLogOffset != req.CommitLogOffset:
		return errLog
	}
	return nil
}

// claim tells whether the half message is open and nobody else ends it. s.mu is held.
func (s *Service) claim(offset int64) (open bool, err error) {
	s.arrivals()
	if _, ending := s.ending[offset]; ending {
		return false, errEnding
	}
	return s.ledger.isOpen(offset), nil
}

func (s *Service) rollback(e *Ending) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	open, err := s.claim(e.offset)
	if err != nil || !open {
		return err
	}
	s.ended(e.offset)
	s.tellOps()
	e.counts.rollbacks.Add(1)
	e.counts.open.Add(-1)
	return nil
}

func (s *Service) commit(h *half, e *Ending) (waits bool, err error) {
	if err := e.copy(h); err != nil {
		return false, err
	}
	s.mu.Lock()
	open, err := s.claim(e.offset)
	if open {
		s.ending[e.offset] = s.opts.Log.MaxCommitLogOffset()
	}
	s.mu.Unlock()
	if err != nil || !open {
		if err == nil {
			s.opts.Difference.Use(difference.CommittedOnce)
		}
		return false, err
	}
	res, pending, err := s.opts.Appender.Put(&e.rec, appender.FromBroker, e)
	e.scratch = e.rec.Scratch
	if pending {
		return true, nil
	}
	e.finish(res, err)
	return false, err
}

// copy makes the message that consumers get. Its delay, if it has one, begins when it is stored.
func (e *Ending) copy(h *half) error {
	s := e.s
	asked := s.asked(e.offset)
	target := s.opts.Topics.Get(h.realTopic)
	name, queueID := "", h.realQueueID
	switch {
	case target != nil:
		name, queueID = target.TopicName, topic.QueueFor(target, queueID)
		if queueID != h.realQueueID {
			s.opts.Difference.Use(difference.QueuesThatAre)
		}
	case s.opts.Log.Queue(h.realTopic, h.realQueueID) != nil:
		name = string(h.realTopic) // it is only missing from the table
	default:
		return remoting.Errorf(remoting.TopicNotExist, "topic[%s] not exist: the transaction stays open", h.realTopic)
	}
	e.props = message.PropertyCopyWithout(e.props[:0], h.v.Properties, func(name []byte) bool {
		return string(name) == message.PropertyRealTopic || string(name) == message.PropertyRealQueueID || asked > 0 && isCheckTimes(name)
	})
	if asked > 0 {
		e.props = message.PropertyAppend(e.props, message.PropertyCheckTimes, strconv.Itoa(asked+h.checked))
	}
	if s.opts.Virtual {
		e.props = s.keepInstant(e.props, h)
	}
	e.rec = h.v.RecordFor(name, queueID, e.props)
	e.rec.SysFlag = h.v.SysFlag&^message.SysFlagTransactionMask | message.SysFlagCommit
	e.rec.PreparedTransactionOffset, e.rec.Scratch = h.v.CommitLogOffset, e.scratch
	return nil
}

// asked is how often this server asked the producer of a half message.
func (s *Service) asked(offset int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.asked(offset)
}

// keepInstant has an absolute instant count from when the half message was sent. In virtual time it
// is as far ahead as it was for the client: whoever delays the copy counts that from now.
func (s *Service) keepInstant(props []byte, h *half) []byte {
	text, ok := message.PropertyGet(props, message.PropertyTimerDeliverMs)
	if !ok {
		return props
	}
	at, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return props // refused, as it would be without a transaction
	}
	at -= s.opts.Store.NowMillis() - h.v.StoreTimestamp
	props = message.PropertyCopyWithout(nil, props, func(name []byte) bool { return string(name) == message.PropertyTimerDeliverMs })
	return message.PropertyAppend(props, message.PropertyTimerDeliverMs, strconv.FormatInt(at, 10))
}

// PutDone implements store.Completion.
func (e *Ending) PutDone(res store.PutResult) {
	err := appender.Refusal(res)
	e.finish(res, err)
	e.Done(err)
}

// finish notes how the commit went.
func (e *Ending) finish(res store.PutResult, err error) {
	s := e.s
	s.mu.Lock()
	delete(s.ending, e.offset)
	if err == nil {
		s.ended(e.offset)
		s.tellOps()
	}
	s.mu.Unlock()
	if err != nil {
		return
	}
	e.counts.commits.Add(1)
	e.counts.open.Add(-1)
	e.counts.latency.Observe(float64(s.opts.Store.NowMillis() - e.since))
	in := s.opts.Stats.TopicCounters([]byte(e.rec.Topic))
	in.PutOK(1, int64(res.Size))
	in.In(stats.Transaction, int64(res.Size))
}
