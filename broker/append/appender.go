package appender

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// Origin says who puts a record.
type Origin uint8

// Origins of records.
const (
	FromClient    Origin = iota // a send
	FromBroker                  // the broker itself: send-back, dead letters
	FromScheduler               // a due message; only it may set this server's own properties
)

// Hook looks at every record before it is stored, may rewrite it, and refuses it by an error,
// which clients see when it is a *remoting.Error.
type Hook func(*message.Record, Origin) error

// Log is what the Appender needs of the store.
type Log interface {
	Put(rec *message.Record, done store.Completion) (store.PutResult, bool)
	PutBatch(recs []message.Record, done store.Completion) (store.PutResult, bool)
	Collect(g *store.Group, rec *message.Record) store.Status
	PutGroup(g *store.Group, done store.Completion) (stored int, res store.PutResult, pending bool)
}

// Appender leads records through the hooks into the store. It is safe for concurrent use.
type Appender struct {
	log   Log
	hooks []Hook
}

// New returns an Appender with hooks in the order they run. Stripping this server's own
// properties comes before all of them.
func New(log Log, hooks ...Hook) *Appender {
	return &Appender{log: log, hooks: append([]Hook{stripOwnProperties}, hooks...)}
}

// Put stores one record. See store.Log for pending and done.
func (a *Appender) Put(rec *message.Record, origin Origin, done store.Completion) (store.PutResult, bool, error) {
	if err := a.apply(rec, origin); err != nil {
		return store.PutResult{}, false, err
	}
	rec.Internal = origin != FromClient
	res, pending := a.log.Put(rec, done)
	return res, pending, Refusal(res)
}

// PutBatch stores records of one topic and queue as one unit.
func (a *Appender) PutBatch(recs []message.Record, origin Origin, done store.Completion) (store.PutResult, bool, error) {
	for i := range recs {
		if err := a.apply(&recs[i], origin); err != nil {
			return store.PutResult{}, false, err
		}
		recs[i].Internal = origin != FromClient
	}
	res, pending := a.log.PutBatch(recs, done)
	return res, pending, Refusal(res)
}

// Collect leads one record through the hooks into a group, which keeps nothing of it. full asks for
// the group to be put. An error is that of a hook, or says that such a record is never stored.
func (a *Appender) Collect(g *store.Group, rec *message.Record, origin Origin) (full bool, err error) {
	if err := a.apply(rec, origin); err != nil {
		return false, err
	}
	rec.Internal = origin != FromClient
	if err := Refusal(store.PutResult{Status: a.log.Collect(g, rec)}); err != nil {
		return false, err
	}
	return g.Full(), nil
}

// PutGroup stores the records of a group in their order. stored is how many are: when not all, the
// error is why the next one is not. See store.Log for pending and done.
func (a *Appender) PutGroup(g *store.Group, done store.Completion) (stored int, pending bool, err error) {
	stored, res, pending := a.log.PutGroup(g, done)
	return stored, pending, Refusal(res)
}

func (a *Appender) apply(rec *message.Record, origin Origin) error {
	for _, hook := range a.hooks {
		if err := hook(rec, origin); err != nil {
			return err
		}
	}
	return nil
}

var ownPrefix = []byte("__WMQ_")

// stripOwnProperties drops what only schedulers may set, so that no client can pass a message
// off as a delivered copy.
func stripOwnProperties(rec *message.Record, origin Origin) error {
	if origin == FromScheduler || !bytes.Contains(rec.Properties, ownPrefix) {
		return nil
	}
	rec.Properties = message.PropertyCopyWithout(nil, rec.Properties, func(name []byte) bool {
		return bytes.HasPrefix(name, ownPrefix)
	})
	return nil
}

// Refusal is what a client is told of a put's result; nil for a stored record.
func Refusal(res store.PutResult) error {
	switch res.Status {
	case store.PutOK, store.FlushDiskTimeout, store.FlushSlaveTimeout, store.SlaveNotAvailable:
		return nil
	case store.MessageIllegal, store.PropertiesSizeExceeded:
		return illegal(res.MaxBody)
	case store.ServiceNotAvailable:
		if res.Reason != "" {
			return remoting.Errorf(remoting.ServiceNotAvailable, "service not available now. %s", res.Reason)
		}
		return errNotAvailable
	case store.TopicLeaving:
		return errLeaving
	case store.PageCacheBusy:
		return errBusy
	case store.CreateMappedFileFailed:
		return errNoFile
	default:
		return &remoting.Error{Code: remoting.SystemError, Remark: fmt.Sprintf("UNKNOWN_ERROR (put status %d)", res.Status)}
	}
}

// Leaves tells whether a message is refused because its topic is being deleted: others are not, and in a
// moment this one is taken again, or its topic does not exist.
func Leaves(err error) bool { return errors.Is(err, errLeaving) }

// illegal names maxMessageSize where that is known: of what the broker itself puts, there is none.
func illegal(maxBody int) error {
	limit := ""
	if maxBody > 0 {
		limit = fmt.Sprintf(" msg body length limit %dB,", maxBody)
	}
	return remoting.Errorf(remoting.MessageIllegal, "the message is illegal, maybe msg body or properties length not matched.%s msg properties length limit 32KB.", limit)
}

// The remarks are the real broker's.
var (
	errNotAvailable = &remoting.Error{Code: remoting.ServiceNotAvailable, Remark: "service not available now. It may be caused by one of the following reasons: the broker's disk is full, a flush has failed, or the broker is shutting down."}
	errLeaving      = &remoting.Error{Code: remoting.ServiceNotAvailable, Remark: "service not available now. the topic is being deleted"}
	errBusy         = &remoting.Error{Code: remoting.SystemBusy, Remark: "[PC_SYNCHRONIZED]broker busy, start flow control for a while"}
	errNoFile       = &remoting.Error{Code: remoting.SystemError, Remark: "create mapped file failed, server is busy or broken."}
)
