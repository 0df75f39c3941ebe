package processor

import (
	"fmt"

	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// maxQueueUnits is how many units one answer has at most: they fit a frame.
const maxQueueUnits = 65_536

// QueueUnits serves QUERY_CONSUME_QUEUE (321): the units of a queue as they lie on disk. Beside what the
// real server tells of a unit, and other tools pass over, it tells whether the message is in flight to the
// consumer group that is asked for.
type QueueUnits struct {
	Clients onlineGroups
	Store   queueFinder
	Pops    flights // nil: nobody pops
	// Differences are asked when Pops is there.
	Differences *difference.Set
}

type flights interface {
	// Flight tells when a message was handed out that is not acknowledged, and until when it is invisible,
	// ms of message time.
	Flight(k pop.Key, offset int64) (popTime, due int64, ok bool)
}

// Routes returns the table rows.
func (q *QueueUnits) Routes() []remoting.Route {
	return []remoting.Route{{
		Code: remoting.QueryConsumeQueue, Class: remoting.Query, Handler: q.units, Since: "4.1",
		Test: "broker/processor/queue_units_test.go",
	}}
}

// queueUnits is the answer's body. Units have no extension here: what would show one is left out.
type queueUnits struct {
	FilterData       string                     `json:"filterData,omitempty"`
	MaxQueueIndex    int64                      `json:"maxQueueIndex"`
	MinQueueIndex    int64                      `json:"minQueueIndex"`
	QueueData        []queueUnit                `json:"queueData"`
	SubscriptionData *remoting.SubscriptionData `json:"subscriptionData,omitempty"`
	// PopInFlightKnown: units without one are not in flight.
	PopInFlightKnown bool `json:"popInFlightKnown,omitempty"`
}

type queueUnit struct {
	Eval         bool  `json:"eval"`
	PhysicOffset int64 `json:"physicOffset"`
	PhysicSize   int32 `json:"physicSize"`
	TagsCode     int64 `json:"tagsCode"`
	// PopInFlight: the group was given it by a pop and has not acknowledged it.
	PopInFlight *popInFlight `json:"popInFlight,omitempty"`
}

type popInFlight struct {
	PopTime        int64 `json:"popTime"`        // ms of message time
	InvisibleUntil int64 `json:"invisibleUntil"` // ms of message time
}

// units answers code 0 without a body when the queue has nothing at the index, as the real server.
func (q *QueueUnits) units(ex *remoting.Exchange) error {
	var req remoting.QueryConsumeQueueRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	queue := q.Store.Queue([]byte(req.Topic), req.QueueID)
	if queue == nil {
		return remoting.Errorf(remoting.SystemError, "%d@%s is not exist!", req.QueueID, req.Topic)
	}
	body := queueUnits{MaxQueueIndex: queue.Max(), MinQueueIndex: queue.Min(), QueueData: []queueUnit{}}
	if req.Index < body.MinQueueIndex || req.Index >= body.MaxQueueIndex {
		ex.Reply.Remark = fmt.Sprintf("Index %d of %d@%s is not exist!", req.Index, req.QueueID, req.Topic)
		return nil
	}
	if req.ConsumerGroup != "" {
		body.SubscriptionData = subscribedTo(q.Clients, req.ConsumerGroup, req.Topic)
		body.FilterData = "null"
		if body.SubscriptionData == nil {
			body.FilterData = fmt.Sprintf("%s@%s is not online!", req.ConsumerGroup, req.Topic)
		}
	}
	var err error
	if body.QueueData, err = readUnits(queue, req.Index, int64(req.Count)); err != nil {
		return err
	}
	if req.ConsumerGroup != "" && q.Pops != nil && q.Differences.On(difference.PopInFlightShown) {
		body.PopInFlightKnown = true
		q.markFlights(pop.Key{Group: req.ConsumerGroup, Topic: req.Topic, QueueID: req.QueueID}, req.Index, body.QueueData)
	}
	return encodeBody(ex, &body)
}

func (q *QueueUnits) markFlights(k pop.Key, index int64, units []queueUnit) {
	for i := range units {
		if popTime, due, ok := q.Pops.Flight(k, index+int64(i)); ok && q.Differences.Use(difference.PopInFlightShown) {
			units[i].PopInFlight = &popInFlight{PopTime: popTime, InvisibleUntil: due}
		}
	}
}

// readUnits reads up to count units from an index on.
func readUnits(queue *store.ConsumeQueue, index, count int64) ([]queueUnit, error) {
	count = max(0, min(count, maxQueueUnits, queue.Max()-index))
	list := make([]queueUnit, 0, count)
	var units [unitChunk]store.Unit
	for int64(len(list)) < count {
		n, err := queue.Units(index+int64(len(list)), units[:min(unitChunk, count-int64(len(list)))])
		if err != nil {
			return nil, fmt.Errorf("processor: units of a queue: %w", err)
		}
		if n == 0 {
			break
		}
		for _, u := range units[:n] {
			list = append(list, queueUnit{PhysicOffset: u.CommitLogOffset, PhysicSize: u.Size, TagsCode: u.TagsCode})
		}
	}
	return list, nil
}
