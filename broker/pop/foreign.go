package pop

import (
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// The real broker's records of pops (RocketMQ 5.5.0): a checkpoint for the messages of a pop, and
// acknowledgements, in the revive topic. Its timers put them there, a checkpoint a second before its
// messages are visible, an acknowledgement when they are.
const (
	reviveTopicPrefix = message.PrefixSystem + "REVIVE_LOG_"
	reviveGroup       = "CID_RMQ_SYS_REVIVE_GROUP"
	reviveQueues      = 64 // more than reviveQueueNum ever is

	tagCheckpoint = "ck"
	tagAck        = "ack"
	tagBatchAck   = "bAck"

	// graceMs is how long after its instant a message of the real broker comes back: an acknowledgement
	// may be on its way here.
	graceMs = 3000
	// maxEarly bounds the acknowledgements that are remembered until their checkpoint comes.
	maxEarly = 1 << 18
)

// checkpoint is the body of a "ck" record.
type checkpoint struct {
	Bits       int64   `json:"bm"` // of acknowledged messages
	BrokerName string  `json:"bn"`
	Group      string  `json:"c"`
	Diffs      []int64 `json:"d"`  // of the offsets to Start; none: they follow one another
	Invisible  int64   `json:"it"` // ms
	N          int64   `json:"n"`
	PopTime    int64   `json:"pt"`
	QueueID    int32   `json:"q"`
	Revive     int64   `json:"ro"` // offset in the revive queue; it is set when the record is read
	RePut      string  `json:"rp"` // how often it was put again
	Start      int64   `json:"so"`
	Topic      string  `json:"t"`
}

// ending is the body of an "ack" or "bAck" record.
type ending struct {
	Offset  int64   `json:"ao"`
	Offsets []int64 `json:"aol"`
	PopTime int64   `json:"pt"`
	QueueID int32   `json:"q"`
	Topic   string  `json:"t"`
	Group   string  `json:"c"`
}

// foreign takes over what the real broker has in flight, in a store that was its own.
type foreign struct {
	s     *Service
	topic []byte
	name  string      // topic
	come  atomic.Bool // there may be records
	there bool        // the revive topic is; it was when the service was made

	mu    sync.Mutex // guards early
	early map[ended]struct{}
}

// ended is a message whose acknowledgement came before its checkpoint.
type ended struct {
	key             Key
	offset, popTime int64
}

func (f *foreign) init(s *Service) {
	f.s, f.name, f.early = s, reviveTopicPrefix+s.opts.Cluster, make(map[ended]struct{})
	f.topic = []byte(f.name)
	for id := range int32(reviveQueues) {
		f.there = f.there || s.opts.Log.Queue(f.topic, id) != nil
	}
	f.come.Store(f.there)
}

// Arrived has the driver look at a record of the real broker's. It is called for every record that
// becomes readable and must be quick.
func (s *Service) Arrived(a store.Arrival) {
	if a.Topic == s.foreign.name {
		s.foreign.come.Store(true)
		s.driver.Wake()
	}
}

// remember keeps an acknowledgement of what nobody knows of here.
func (f *foreign) remember(k Key, popTime int64, offsets []int64) {
	if !f.there {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, at := range offsets {
		if len(f.early) < maxEarly {
			f.early[ended{k, at, popTime}] = struct{}{}
		}
	}
}

// forget tells whether an acknowledgement was remembered.
func (f *foreign) forget(k Key, offset, popTime int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := ended{k, offset, popTime}
	_, was := f.early[e]
	delete(f.early, e)
	return was
}

// takeOver reads what has come into the revive topic.
func (f *foreign) takeOver() {
	if !f.come.Swap(false) {
		return
	}
	for id := range int32(reviveQueues) {
		q := f.s.opts.Log.Queue(f.topic, id)
		if q == nil {
			continue
		}
		// The group's offset is that of the last checkpoint that is done with, not of the next one.
		at := max(f.s.opts.Offsets.Query([]byte(reviveGroup), f.topic, id)+1, q.Min())
		first := at
		for ; at < q.Max(); at++ {
			if err := f.read(q, at); err != nil {
				f.s.opts.Logger.WithError(err).WithFields(logrus.Fields{"queueId": id, "offset": at}).
					Error("a record of RocketMQ about popped messages cannot be taken over")
			}
		}
		if at > first {
			f.s.opts.Offsets.Commit([]byte(reviveGroup), f.topic, id, at-1)
		}
	}
}

func (f *foreign) read(q *store.ConsumeQueue, at int64) (err error) {
	defer store.CatchFault(&err)
	u, ok := q.Unit(at)
	if !ok {
		return errGone
	}
	slice, err := f.s.opts.Log.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return err
	}
	defer slice.Release()
	v, err := message.Parse(slice.Bytes)
	if err != nil {
		return err
	}
	tag, _ := message.PropertyGet(v.Properties, message.PropertyTags)
	switch string(tag) {
	case tagCheckpoint:
		var ck checkpoint
		if err := json.Unmarshal(v.Body, &ck); err != nil {
			return err
		}
		return f.hold(&ck)
	case tagAck, tagBatchAck:
		var e ending
		if err := json.Unmarshal(v.Body, &e); err != nil {
			return err
		}
		offsets := e.Offsets
		if string(tag) == tagAck {
			offsets = []int64{e.Offset}
		}
		_, _, err := f.s.AckBatch(Key{e.Group, e.Topic, e.QueueID}, e.PopTime, offsets, nil)
		return err
	}
	return nil
}

// hold makes the messages of a checkpoint ones in flight.
func (f *foreign) hold(ck *checkpoint) error {
	k := Key{ck.Group, ck.Topic, ck.QueueID}
	q := f.s.opts.Log.Queue([]byte(k.Topic), k.QueueID)
	if q == nil || ck.PopTime <= 0 || ck.N > maxKept {
		return nil
	}
	due := max(ck.PopTime+ck.Invisible, f.s.opts.Store.NowMillis()) + graceMs
	w := f.s.window(k)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return nil
	}
	var offsets []int64
	for i := range ck.N {
		at := ck.Start + i
		if len(ck.Diffs) > 0 {
			if i >= int64(len(ck.Diffs)) {
				break
			}
			at = ck.Start + ck.Diffs[i]
		}
		acked := i < 64 && ck.Bits>>i&1 == 1 || f.forget(k, at, ck.PopTime)
		if !acked && at >= q.Min() && at < q.Max() && w.held.find(at) == nil {
			offsets = append(offsets, at)
		}
	}
	if len(offsets) == 0 {
		return nil
	}
	for _, at := range offsets {
		w.held.set(at, entry{popTime: ck.PopTime, due: due})
		f.s.tells(0, 1)
		f.s.inFlight.Add(1)
	}
	w.lookAt(due, offsets)
	_, err := w.writeHeld(ck.PopTime, due, 0, offsets, 0)
	return err
}
