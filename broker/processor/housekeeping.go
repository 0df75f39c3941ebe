package processor

import (
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/remoting"
)

// cleaner is a store that can be told to tidy up.
type cleaner interface {
	// DeleteExpired deletes expired log files soon, whatever the hour.
	DeleteExpired()
	// CleanQueues lets queues go of what the log has no more.
	CleanQueues() error
	// QueueTopics are the topics that have queues.
	QueueTopics() []string
	DeleteTopic(topic string) error
}

// Housekeeping serves CLEAN_EXPIRED_CONSUMEQUEUE (306), CLEAN_UNUSED_TOPIC (316) and
// DELETE_EXPIRED_COMMITLOG (329). All of it happens by itself, too, but for 316.
type Housekeeping struct {
	Store cleaner
	// Kept tells whether a topic keeps its queues: it exists, or is the system's.
	Kept func(topic string) bool
	Log  logrus.FieldLogger
}

// Routes returns the table rows.
func (h *Housekeeping) Routes() []remoting.Route {
	const test = "broker/processor/housekeeping_test.go"
	return []remoting.Route{
		{Code: remoting.CleanExpiredConsumeQueue, Class: remoting.Admin, Handler: h.cleanQueues, Since: "3.0", Test: test},
		{Code: remoting.CleanUnusedTopic, Class: remoting.Admin, Handler: h.cleanTopics, Since: "3.2", Test: test},
		{Code: remoting.DeleteExpiredCommitLog, Class: remoting.Admin, Handler: h.deleteExpired, Since: "4.9", Test: test},
	}
}

func (h *Housekeeping) deleteExpired(*remoting.Exchange) error {
	h.Log.Info("expired log files are deleted on request")
	h.Store.DeleteExpired()
	return nil
}

func (h *Housekeeping) cleanQueues(*remoting.Exchange) error {
	return h.Store.CleanQueues()
}

// cleanTopics deletes the queues of topics that are no more. Their names are read first: a topic that
// is created meanwhile exists before its queues.
func (h *Housekeeping) cleanTopics(*remoting.Exchange) error {
	for _, name := range h.Store.QueueTopics() {
		if h.Kept(name) {
			continue
		}
		h.Log.WithField("topic", name).Info("the queues of a topic that is no more are deleted on request")
		if err := h.Store.DeleteTopic(name); err != nil {
			return err
		}
	}
	return nil
}
