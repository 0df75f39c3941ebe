package processor

import (
	"fmt"
	"strings"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

type (
	gotRates interface {
		GotTPS(group, topic string) float64
	}
	groupLister interface {
		// All returns every group by name.
		All() []*subscription.Config
	}
	popProgress interface {
		// WindowOf tells what is in flight of a queue to a group that pops.
		WindowOf(k pop.Key) (pop.Info, bool)
	}
)

// ConsumeStats serves how far groups are: GET_CONSUME_STATS (208), GET_BROKER_CONSUME_STATS (317) and
// QUERY_CONSUME_TIME_SPAN (303).
type ConsumeStats struct {
	BrokerName, BrokerAddr string
	Clients                onlineGroups
	Groups                 groupLister
	Offsets                offsetReader
	Topics                 topicReader
	Store                  queueReader
	Stats                  gotRates
	Pops                   popProgress // may be nil
	// Delayed is how many messages wait for their time by the topic that they are for; may be nil.
	Delayed     func() map[string]int64
	Time        clock.Clock // of messages
	Differences *difference.Set
}

// Routes returns the table rows.
func (c *ConsumeStats) Routes() []remoting.Route {
	const test = "broker/processor/consume_stats_test.go"
	return []remoting.Route{
		{Code: remoting.GetConsumeStats, Class: remoting.Admin, Handler: c.ofGroup, Since: "3.0", Test: test},
		{Code: remoting.GetBrokerConsumeStats, Class: remoting.Admin, Handler: c.ofBroker, Since: "3.2", Test: test},
		{Code: remoting.QueryConsumeTimeSpan, Class: remoting.Admin, Handler: c.timeSpan, Since: "3.0", Test: test},
	}
}

// ofGroup answers a group's progress: in the topics of a list, in one topic, or in all that it has
// offsets in. But for those of a list, a topic is left out when an online group subscribes to others
// only. A group without progress is an empty table, not an error.
func (c *ConsumeStats) ofGroup(ex *remoting.Exchange) error {
	var req remoting.GetConsumeStatsRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	topics, listed := topicsOf(req.TopicList), true
	if len(topics) == 0 {
		topics, listed = []string{req.Topic}, false
	}
	if req.Topic == "" && !listed {
		topics = c.Offsets.Topics(req.ConsumerGroup)
	}
	online := c.Clients.Group([]byte(req.ConsumerGroup))
	waiting := req.Waiting && c.Differences.On(difference.PopInFlightShown)
	var rows queueTable
	tps := 0.0
	shown := []string{message.PrefixRetry + req.ConsumerGroup}
	for _, name := range topics {
		config := c.Topics.Get([]byte(name))
		if config == nil || !listed && unsubscribed(online, name) {
			continue
		}
		for queueID := range config.ReadQueueNums {
			row := c.progress(req.ConsumerGroup, name, queueID)
			if waiting {
				c.addPopped(&row, pop.Key{Group: req.ConsumerGroup, Topic: name, QueueID: queueID})
			}
			if err := rows.add(c.queue(name, queueID), row); err != nil {
				return err
			}
		}
		shown = append(shown, name)
		tps += c.Stats.GotTPS(req.ConsumerGroup, name)
	}
	ex.Reply.Body = rows.body("consumeTps", tps)
	if !waiting {
		return nil
	}
	c.Differences.Use(difference.PopInFlightShown)
	return c.addDelayed(ex, shown)
}

// addPopped adds what pops have in flight of a queue.
func (c *ConsumeStats) addPopped(row *remoting.OffsetWrapper, k pop.Key) {
	if c.Pops == nil {
		return
	}
	if i, ok := c.Pops.WindowOf(k); ok {
		row.PopInFlight, row.PopInOrder = i.InFlight, i.InOrder
	}
}

// addDelayed adds to the answer {…} how many messages wait for their time to come to some topics.
func (c *ConsumeStats) addDelayed(ex *remoting.Exchange, topics []string) error {
	delayed := make(map[string]int64)
	if c.Delayed != nil {
		all := c.Delayed()
		for _, name := range topics {
			if n := all[name]; n > 0 {
				delayed[name] = n
			}
		}
	}
	table, err := fastjson.Marshal(delayed)
	if err != nil {
		return fmt.Errorf("processor: delayed messages: %w", err)
	}
	body := append(ex.Reply.Body[:len(ex.Reply.Body)-1], `,"delayTable":`...)
	ex.Reply.Body = append(append(body, table...), '}')
	return nil
}

// topicsOf cuts a list with semicolons.
func topicsOf(list string) (topics []string) {
	for name := range strings.SplitSeq(list, ";") {
		if name = strings.TrimSpace(name); name != "" {
			topics = append(topics, name)
		}
	}
	return topics
}

// unsubscribed tells whether a group that is online subscribes to other topics only. One that
// subscribes to nothing reads queues that its members name themselves.
func unsubscribed(online *client.ConsumerGroup, topicName string) bool {
	return online != nil && online.Subscription([]byte(topicName)) == nil && len(online.Subscriptions()) > 0
}

func (c *ConsumeStats) queue(topicName string, queueID int32) remoting.MessageQueue {
	return remoting.MessageQueue{Topic: topicName, BrokerName: c.BrokerName, QueueID: queueID}
}

// progress is how far a group is in a queue. What it has pulled is at least what it has committed.
func (c *ConsumeStats) progress(group, topicName string, queueID int32) remoting.OffsetWrapper {
	committed := max(c.Offsets.Query([]byte(group), []byte(topicName), queueID), 0)
	w := remoting.OffsetWrapper{
		ConsumerOffset: committed,
		PullOffset:     max(c.Offsets.QueryPulled([]byte(group), []byte(topicName), queueID), committed),
	}
	queue := c.Store.Queue([]byte(topicName), queueID)
	if queue == nil {
		return w
	}
	w.BrokerOffset = queue.Max()
	if w.ConsumerOffset > 0 {
		if ms, ok := c.Store.StoreTimestamp(queue, w.ConsumerOffset-1); ok {
			w.LastTimestamp = ms
		}
	}
	return w
}
