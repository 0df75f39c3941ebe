package transaction

import (
	"strconv"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// A burst of questions has at most burstMessages, and ends with the one that makes it burstBytes.
const (
	burstMessages = 256
	burstBytes    = 1 << 20
)

// busyMs is after how long a half message is looked at again whose end is just being stored, or whose
// producer has much to read, ms.
const busyMs = 1000

// asking is what the driver needs to ask.
type asking struct {
	turn  uint64 // whose turn it is in a group of several producers
	body  []byte
	props []byte
	bytes int // of this burst
}

// ask asks about what is due on the agenda, at most a burst, and returns when to ask again.
func (d *driver) ask(now int64) (next int64, paused bool) {
	s := d.s
	q := s.opts.Log.Queue(topicHalf, 0)
	d.asking.bytes = 0
	for n := 0; len(d.agenda.entries) > 0; {
		if e := d.agenda.entries[0]; e.due > now {
			s.mu.Lock()
			gone := !s.ledger.isOpen(e.offset)
			d.agenda.sweep(s.ledger.open, s.ledger.isOpen)
			s.mu.Unlock()
			if !gone {
				return d.agenda.entries[0].due, false
			}
			if len(d.agenda.entries) > 0 && d.agenda.entries[0] == e {
				d.agenda.pop()
			}
			continue
		}
		if n++; n > burstMessages || d.asking.bytes >= burstBytes {
			return never, true
		}
		d.turn(q, d.agenda.pop(), now)
	}
	return never, false
}

// turn deals with one entry of the agenda that is due.
func (d *driver) turn(q *store.ConsumeQueue, e entry, now int64) {
	s := d.s
	s.mu.Lock()
	open, asked := s.ledger.isOpen(e.offset), s.ledger.asked(e.offset)
	_, ending := s.ending[e.offset]
	s.mu.Unlock()
	switch {
	case !open:
		return
	case ending:
		d.agenda.push(entry{due: now + busyMs, offset: e.offset})
		return
	}
	again := e.due + s.rules.Load().IntervalMs
	if again <= now {
		again = now + s.rules.Load().IntervalMs
	}
	err := s.withHalf(q, e.offset, func(h *half) error {
		if now >= h.expires(&s.rules.Load().Times) || asked+h.checked >= max(1, s.rules.Load().checkMax) {
			return d.giveUp(h, asked+h.checked, now)
		}
		told, later := d.question(h, asked+h.checked+1)
		if later {
			d.agenda.push(entry{due: now + busyMs, offset: e.offset})
			return nil
		}
		if told || !s.opts.Difference.Use(difference.ChecksNeedAProducer) {
			s.noteAsked(e.offset, asked+1)
		}
		d.agenda.push(entry{due: min(again, h.expires(&s.rules.Load().Times)), offset: e.offset})
		return nil
	})
	if err != nil {
		s.lost(e.offset, err)
	}
}

// noteAsked notes how often the producer of a half message was asked.
func (s *Service) noteAsked(offset int64, times int) {
	s.counts.asked.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.setAsked(offset, times)
	s.ops.checked = append(s.ops.checked, offset)
	s.tellOps()
}

// question sends CHECK_TRANSACTION_STATE (39) to one producer of the group, to another one each
// time, and tells whether there was one. Later: all that are there have yet to read earlier ones.
func (d *driver) question(h *half, times int) (told, later bool) {
	members := d.s.opts.Producers.Producers(string(h.group))
	d.asking.turn++
	for i := range members {
		m := &members[(d.asking.turn+uint64(i))%uint64(len(members))]
		if m.Conn.Closed() {
			continue
		}
		if d.behind(m) {
			later = true
			continue
		}
		err := d.send(m, h, times)
		if err == nil {
			return true, false
		}
		d.s.opts.Logger.WithError(err).WithField("group", string(h.group)).Debug("a producer cannot be asked about a transaction")
	}
	if len(members) == 0 {
		d.s.opts.Logger.WithFields(logrus.Fields{"group": string(h.group), "key": string(h.uniqKey)}).
			Debug("no producer is there to be asked about a transaction")
	}
	return false, later
}

// behind tells whether a producer has so much to read that it is not asked on: a connection whose
// bound is exceeded is closed. In virtual time nothing is put off, since no time passes meanwhile.
func (d *driver) behind(m *client.Member) bool {
	c, ok := m.Conn.(interface{ Unsent() int })
	return ok && !d.s.opts.Virtual && c.Unsent() > burstBytes
}

// send asks one producer.
func (d *driver) send(m *client.Member, h *half, times int) error {
	a := &d.asking
	a.props = message.PropertyCopyWithout(a.props[:0], h.v.Properties, isCheckTimes)
	a.props = message.PropertyAppend(a.props, message.PropertyCheckTimes, strconv.Itoa(times))
	rec := h.v.RecordFor(string(h.realTopic), h.realQueueID, a.props)
	size := message.EncodedLen(&rec)
	if cap(a.body) < size {
		a.body = make([]byte, size)
	}
	a.body = a.body[:size]
	message.Encode(a.body, &rec)
	message.Patch(a.body, h.v.QueueOffset, h.v.CommitLogOffset, h.v.StoreTimestamp)
	a.bytes += size

	var ext remoting.ExtWriter
	key := string(h.uniqKey)
	header := remoting.CheckTransactionStateRequest{
		Topic: message.TopicTransHalf, TranStateTableOffset: h.v.QueueOffset, CommitLogOffset: h.v.CommitLogOffset,
		MsgID: key, TransactionID: key, BrokerName: d.s.opts.Broker,
		OffsetMsgID: string(message.AppendOffsetID(nil, h.v.StoreHost, h.v.CommitLogOffset)),
	}
	header.Encode(&ext)
	err := client.Notify(m.Conn, remoting.CheckTransactionState, &ext, a.body)
	if cap(a.body) > burstBytes {
		a.body = nil
	}
	return err
}
