// Package park keeps due messages whose target refuses them for good where an operator can
// see them: in one system topic, in one format for every service, counted.
package park

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/metrics"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// Properties that a parked message has beside its own.
const (
	PropertyReason  = "PARK_REASON"
	PropertyService = "PARK_SERVICE"
	PropertyTopic   = "PARK_TOPIC"
	PropertyQueueID = "PARK_QID"
)

// maxReason bounds the reason text, bytes.
const maxReason = 200

// Appender is what Park needs of the one door into the store.
type Appender interface {
	Put(rec *message.Record, origin appender.Origin, done store.Completion) (store.PutResult, bool, error)
}

// Options are what a Service needs.
type Options struct {
	Appender    Appender
	Log         logrus.FieldLogger
	Metrics     prometheus.Registerer // may be nil
	Health      *health.Registry      // may be nil
	Differences *difference.Set
	// Pending is the number of messages in the parked topic's queue.
	Pending func() int64
	Records Records     // nil: parked messages are not looked at again
	Table   persist.Dir // keeps which of them are done with; may be nil
	// QueueFor is the queue of a topic for a message meant for one of its queues, !ok when there is no
	// such topic; nil: every topic has every queue.
	QueueFor func(topicName string, queueID int32) (queue int32, ok bool)
}

// Service parks messages.
type Service struct {
	opts   Options
	parked atomic.Int64 // since the start

	handling sync.Mutex // makes operators take turns
	mu       sync.Mutex // guards handled
	handled  handled
}

// New returns a Service and registers its metric and health check.
func New(opts Options) (*Service, error) {
	s := &Service{opts: opts}
	s.load(opts.Table)
	if err := s.register(); err != nil {
		return nil, err
	}
	if opts.Health != nil {
		opts.Health.Register("parked", s.check)
	}
	return s, nil
}

func (s *Service) register() error {
	return metrics.Register(s.opts.Metrics, "park",
		metrics.Counter("rocketmq_parked_messages_total", "Due messages that their target refused for good.", s.parked.Load),
		metrics.Gauge("rocketmq_parked_messages", "Messages in the topic of parked messages, from earlier runs too.", s.Count),
	)
}

func (s *Service) check() health.Result {
	if n := s.Count(); n > 0 {
		return health.Result{State: health.Degraded,
			Reason: fmt.Sprintf("%d messages are parked in %s: their target refused them", n, message.TopicParked)}
	}
	return health.Result{State: health.Up}
}

// Park stores rec, addressed to its target, in the parked topic. The error says why it could
// not be parked now; nothing is lost by trying again.
func (s *Service) Park(rec *message.Record, service, reason string) error {
	s.opts.Differences.Use(difference.ParkedMessages)
	parked := *rec
	parked.Topic, parked.QueueID = message.TopicParked, 0
	parked.Properties = s.properties(rec, service, reason)
	_, _, err := s.opts.Appender.Put(&parked, appender.FromScheduler, nil)
	if illegal(err) {
		s.leaveNote(&parked, rec, service, reason)
		_, _, err = s.opts.Appender.Put(&parked, appender.FromScheduler, nil)
	}
	if err != nil {
		return fmt.Errorf("park: %w", err)
	}
	s.parked.Add(1)
	s.opts.Log.WithFields(logrus.Fields{"topic": rec.Topic, "queueId": rec.QueueID, "service": service, "reason": reason}).
		Warn("a due message is parked: its target refuses it")
	return nil
}

// illegal tells that the message cannot be stored at all, as one that is larger than a
// maxMessageSize lowered since.
func illegal(err error) bool {
	var refusal *remoting.Error
	return errors.As(err, &refusal) && refusal.Code == remoting.MessageIllegal
}

// noteBody is the body of a note.
const noteBody = "the message is too large to be copied; it is in the log at the offset of its source identity"

// leaveNote makes parked a note about rec, which stays in the log where the note's source
// identity says, so that it does not hold up what is due behind it.
func (s *Service) leaveNote(parked, rec *message.Record, service, reason string) {
	note := message.Record{Topic: rec.Topic, QueueID: rec.QueueID}
	if source, ok := message.PropertyGet(rec.Properties, message.PropertySource); ok {
		note.Properties = message.PropertyAppend(nil, message.PropertySource, source)
	}
	// A start recognises what was delivered, or parked, by the source and by what it waited for.
	for _, name := range []string{message.PropertyUniqKey, message.PropertyTimerOutMs, message.PropertyDelay} {
		if value, ok := message.PropertyGet(rec.Properties, name); ok {
			note.Properties = message.PropertyAppend(note.Properties, name, value)
		}
	}
	parked.SysFlag, parked.Properties = 0, s.properties(&note, service, reason)
	parked.Body = []byte(noteBody)
}

func (s *Service) properties(rec *message.Record, service, reason string) []byte {
	if len(reason) > maxReason {
		reason = reason[:maxReason]
	}
	props := append([]byte(nil), rec.Properties...)
	props = message.PropertyAppend(props, PropertyService, service)
	props = message.PropertyAppend(props, PropertyTopic, rec.Topic)
	props = message.PropertyAppend(props, PropertyQueueID, strconv.Itoa(int(rec.QueueID)))
	props = message.PropertyAppend(props, PropertyReason, reason)
	if len(props) > message.MaxPropertiesLength {
		// The message's own properties are worth more than the note about it.
		return rec.Properties
	}
	return props
}
