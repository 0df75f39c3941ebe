package processor

import (
	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/remoting"
)

type statsReader interface {
	View(name, key string) (stats.View, bool)
	PutTPS(topic string) float64
}

// TopicStats serves GET_TOPIC_STATS_INFO (202) and VIEW_BROKER_STATS_DATA (315).
type TopicStats struct {
	BrokerName string
	Topics     topicReader
	Store      queueReader
	Stats      statsReader
}

// Routes returns the table rows.
func (s *TopicStats) Routes() []remoting.Route {
	const test = "broker/processor/topic_stats_test.go"
	return []remoting.Route{
		{Code: remoting.GetTopicStatsInfo, Class: remoting.Admin, Handler: s.topicStats, Since: "3.0", Test: test},
		{Code: remoting.ViewBrokerStatsData, Class: remoting.Admin, Handler: s.brokerStats, Since: "3.2",
			Status: remoting.Partial, Note: "connections and how long clients take to register are in the metrics only", Test: test},
	}
}

// topicStats has a row for each queue that can be read or written. SCHEDULE_TOPIC_XXXX is
// a topic like any other here: a queue per delay level.
func (s *TopicStats) topicStats(ex *remoting.Exchange) error {
	var req remoting.GetTopicStatsRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	config := s.Topics.Get([]byte(req.Topic))
	if config == nil {
		return remoting.Errorf(remoting.TopicNotExist, "topic[%s] not exist", req.Topic)
	}
	var rows queueTable
	for queueID := range max(config.ReadQueueNums, config.WriteQueueNums) {
		mq := remoting.MessageQueue{Topic: req.Topic, BrokerName: s.BrokerName, QueueID: queueID}
		if err := rows.add(mq, s.queue([]byte(req.Topic), queueID)); err != nil {
			return err
		}
	}
	ex.Reply.Body = rows.body("topicPutTps", s.Stats.PutTPS(req.Topic))
	return nil
}

func (s *TopicStats) queue(topicName []byte, queueID int32) remoting.TopicOffset {
	var row remoting.TopicOffset
	queue := s.Store.Queue(topicName, queueID)
	if queue == nil {
		return row
	}
	row.MinOffset, row.MaxOffset = max(queue.Min(), 0), max(queue.Max(), 0)
	if row.MaxOffset > 0 {
		if ms, ok := s.Store.StoreTimestamp(queue, row.MaxOffset-1); ok {
			row.LastUpdateTimestamp = ms
		}
	}
	return row
}

// brokerStats: tools take the remark's form for "nothing counted yet".
func (s *TopicStats) brokerStats(ex *remoting.Exchange) error {
	var req remoting.ViewBrokerStatsDataRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	view, ok := s.Stats.View(req.StatsName, req.StatsKey)
	if !ok {
		return remoting.Errorf(remoting.SystemError, "The stats <%s> <%s> not exist", req.StatsName, req.StatsKey)
	}
	return encodeBody(ex, &view)
}
