package timer

import (
	"strconv"
	"sync"

	"github.com/wheelmq/wheelmq/message"
)

// maxUnmatched bounds how many cancels are remembered: tests have few.
const maxUnmatched = 10_000

// unmatched are cancels that came before their messages while tests turn the clock. Both name an
// instant of the client's clock, and virtual time may go on between the two: what is the same instant
// to the client has to be the same in virtual time. It is forgotten when the server ends.
type unmatched struct {
	mu   sync.Mutex
	byID map[string]unmatchedCancel // by topic and key
}

type unmatchedCancel struct {
	named int64 // TIMER_OUT_MS by the client's clock
	due   int64 // in whose second it is kept, ms of virtual time
}

// namedOut is the TIMER_OUT_MS that a message has by its client's clock; false: it asks for none.
func (a *Admission) namedOut(asked *request, born int64) (outMs int64, ok bool) {
	if asked.relative != nil {
		n, err := strconv.ParseInt(string(asked.relative), 10, 64)
		return message.TimerOut(born+n*asked.unit, a.opts.PrecisionMs), err == nil && born > 0
	}
	at, err := strconv.ParseInt(string(asked.absolute), 10, 64)
	return message.TimerOut(at, a.opts.PrecisionMs), err == nil
}

// match remembers a cancel whose message does not pend, and makes a message that comes behind its
// cancel due in the second where that is.
func (a *Admission) match(asked *request, rec *message.Record, due *message.Due, now int64) {
	if !a.opts.Virtual || asked.known > 0 {
		return
	}
	key := property(rec.Properties, message.PropertyUniqKey)
	if asked.cancels {
		key = plainKey([]byte(rec.Topic), asked.props.DelUniqKey)
	}
	named, ok := a.namedOut(asked, rec.BornTimestamp)
	if !ok || key == nil {
		return
	}
	u := &a.unmatched
	u.mu.Lock()
	defer u.mu.Unlock()
	id := topicKey([]byte(rec.Topic), key)
	if asked.cancels {
		if u.byID == nil || len(u.byID) >= maxUnmatched {
			u.byID = make(map[string]unmatchedCancel)
		}
		u.byID[id] = unmatchedCancel{named, due.Ms}
		return
	}
	if c, found := u.byID[id]; found && c.named == named && c.due > now {
		due.Ms = c.due
		delete(u.byID, id)
	}
}
