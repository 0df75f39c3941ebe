package processor

import (
	"github.com/wheelmq/wheelmq/remoting"
)

type (
	queueTopics interface {
		// QueueTopics lists the topics that have queues.
		QueueTopics() []string
	}
	offsetRows interface {
		// Rows is how many groups have offsets, once for each topic.
		Rows() int
	}
)

// Without answers what operators ask about features that this server does not have, where the answer of a real
// server that does not use them is true here too: GET_COLD_DATA_FLOW_CTR_INFO (2003) and
// REMOVE_COLD_DATA_FLOW_CTR_CONFIG (2002), and GET_BROKER_LITE_INFO (200074). What would set something is refused:
// see Refused.
type Without struct {
	Queues  queueTopics
	Offsets offsetRows
}

// Routes returns the table rows.
func (w *Without) Routes() []remoting.Route {
	const test = "broker/processor/without_test.go"
	return []remoting.Route{
		{
			Code: 2002, Name: "REMOVE_COLD_DATA_FLOW_CTR_CONFIG", Class: remoting.Admin, Since: "5.1", Test: test, Status: remoting.Partial,
			Note: "there are no limits to remove", Handler: func(*remoting.Exchange) error { return nil },
		},
		{
			Code: 2003, Name: "GET_COLD_DATA_FLOW_CTR_INFO", Class: remoting.Admin, Since: "5.1", Test: test, Status: remoting.Partial,
			Note: "as with coldDataFlowControlEnable=false: no read is held back", Handler: w.coldData,
		},
		{
			Code: 200074, Name: "GET_BROKER_LITE_INFO", Class: remoting.Admin, Since: "5.5", Test: test, Status: remoting.Partial,
			Note: "there are no lite topics, and none may be", Handler: w.lite,
		},
	}
}

// coldData is what the real server answers while it holds back no reads of cold data: the thresholds are its defaults,
// without effect there as here.
func (w *Without) coldData(ex *remoting.Exchange) error {
	ex.Reply.Body = []byte(`{"runtimeTable":{},"configTable":{},"cgColdReadThreshold":3145728,"globalColdReadThreshold":104857600,"globalAcc":0}`)
	return nil
}

// liteInfo is the body of GET_BROKER_LITE_INFO.
type liteInfo struct {
	CQTableSize           int            `json:"cqTableSize"` // topics with queues
	CurrentLmqNum         int            `json:"currentLmqNum"`
	EventMapSize          int            `json:"eventMapSize"`
	GroupMeta             map[string]any `json:"groupMeta"`
	LiteSubscriptionCount int            `json:"liteSubscriptionCount"`
	MaxLmqNum             int            `json:"maxLmqNum"`
	OffsetTableSize       int            `json:"offsetTableSize"` // topics of groups
	OrderInfoCount        int            `json:"orderInfoCount"`
	StoreType             string         `json:"storeType"`
	TopicMeta             map[string]any `json:"topicMeta"`
}

func (w *Without) lite(ex *remoting.Exchange) error {
	return encodeBody(ex, &liteInfo{
		CQTableSize: len(w.Queues.QueueTopics()), OffsetTableSize: w.Offsets.Rows(), StoreType: "default",
		GroupMeta: map[string]any{}, TopicMeta: map[string]any{},
	})
}
