package transaction

import (
	"strconv"

	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// giveUpAgainMs is after how long a half message is given up again when its new place refused it, ms.
const giveUpAgainMs = 10_000

// giveUp moves a half message to TRANS_CHECK_MAX_TIME_TOPIC, where it waits for an operator:
// RESUME_CHECK_HALF_MESSAGE (323) takes it from there.
func (d *driver) giveUp(h *half, asked int, now int64) error {
	s := d.s
	s.opts.Topics.CreateRetry(message.TopicTransCheckMax, 1, topic.PermRead|topic.PermWrite)
	props := message.PropertyCopyWithout(nil, h.v.Properties, isCheckTimes)
	props = message.PropertyAppend(props, message.PropertyCheckTimes, strconv.Itoa(asked))
	rec := h.v.RecordFor(message.TopicTransCheckMax, 0, props)
	rec.PreparedTransactionOffset = h.v.CommitLogOffset
	g := &givenUp{d: d, offset: h.v.QueueOffset, counts: s.counts.of(h.realTopic), log: s.opts.Logger.WithFields(logrus.Fields{
		"topic": string(h.realTopic), "group": string(h.group), "key": string(h.uniqKey), "checks": asked,
	})}
	// It is looked at again in any case: what became of it may be told later.
	d.agenda.push(entry{due: now + giveUpAgainMs, offset: g.offset})
	if !s.begin(g.offset) {
		return nil
	}
	d.putting.Add(1)
	_, pending, err := s.opts.Appender.Put(&rec, appender.FromScheduler, g)
	if !pending {
		g.finish(err)
	}
	return nil
}

// begin notes that the end of a half message is being stored, unless it has ended or its producer is
// just ending it.
func (s *Service) begin(offset int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open, err := s.claim(offset); err != nil || !open {
		return false
	}
	s.ending[offset] = s.opts.Log.MaxCommitLogOffset()
	return true
}

// givenUp waits for a half message to be stored elsewhere.
type givenUp struct {
	d      *driver
	offset int64
	counts *topicCounts
	log    logrus.FieldLogger
}

// PutDone implements store.Completion.
func (g *givenUp) PutDone(res store.PutResult) { g.finish(appender.Refusal(res)) }

func (g *givenUp) finish(err error) {
	s := g.d.s
	s.mu.Lock()
	delete(s.ending, g.offset)
	if err == nil {
		s.ended(g.offset)
		g.counts.givenUp.Add(1)
		g.counts.open.Add(-1)
		s.tellOps()
	}
	s.mu.Unlock()
	if err != nil {
		// All of them are refused while a disk is full.
		if n := s.counts.refused.Add(1); n&(n-1) == 0 {
			g.log.WithError(err).WithField("times", n).
				Error("transactions that were neither committed nor rolled back cannot be given up: it is tried again")
		}
	} else {
		g.log.Warn("a transaction was neither committed nor rolled back: it waits in " + message.TopicTransCheckMax)
	}
	if g.d.putting.Add(-1) == 0 {
		s.driver.Wake()
	}
}

// Resume makes a message that was given up, at a log offset, a half message again, whose producer
// was never asked (request code 323).
func (s *Service) Resume(commitLogOffset int64) (err error) {
	defer store.CatchFault(&err)
	slice, err := s.opts.Log.Record(commitLogOffset, 0)
	if err != nil {
		return errNoGivenUp
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil || string(v.Topic) != message.TopicTransCheckMax {
		return errNoGivenUp
	}
	props := message.PropertyCopyWithout(nil, v.Properties, func(name []byte) bool {
		return isCheckTimes(name) || string(name) == message.PropertyPreparedQueueOffset
	})
	props = message.PropertyAppend(props, message.PropertyCheckTimes, "0")
	rec := v.RecordFor(message.TopicTransHalf, 0, props)
	rec.SysFlag &^= message.SysFlagTransactionMask
	if _, _, err := s.opts.Appender.Put(&rec, appender.FromScheduler, nil); err != nil {
		return err
	}
	if realTopic, ok := message.PropertyGet(v.Properties, message.PropertyRealTopic); ok {
		s.Prepared(realTopic)
	}
	return nil
}

var errNoGivenUp = &remoting.Error{Code: remoting.SystemError, Remark: "there is no message of " + message.TopicTransCheckMax + " with this id"}
