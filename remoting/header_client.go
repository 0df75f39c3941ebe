package remoting

// UnregisterClientRequest is the header of UNREGISTER_CLIENT (35).
type UnregisterClientRequest struct {
	ClientID      string
	ProducerGroup string
	ConsumerGroup string
}

// Decode reads the header.
func (h *UnregisterClientRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = UnregisterClientRequest{
		ClientID: r.text("clientID"), ProducerGroup: r.optText("producerGroup"), ConsumerGroup: r.optText("consumerGroup"),
	}
	return r.err()
}

// GetConsumerListByGroupRequest is the header of GET_CONSUMER_LIST_BY_GROUP (38).
type GetConsumerListByGroupRequest struct{ ConsumerGroup string }

// Decode reads the header.
func (h *GetConsumerListByGroupRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.ConsumerGroup = r.text("consumerGroup")
	return r.err()
}

// GetConsumerConnectionListRequest is the header of GET_CONSUMER_CONNECTION_LIST (203).
type GetConsumerConnectionListRequest struct{ ConsumerGroup string }

// Decode reads the header.
func (h *GetConsumerConnectionListRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.ConsumerGroup = r.text("consumerGroup")
	return r.err()
}

// GetProducerConnectionListRequest is the header of GET_PRODUCER_CONNECTION_LIST (204).
type GetProducerConnectionListRequest struct{ ProducerGroup string }

// Decode reads the header.
func (h *GetProducerConnectionListRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.ProducerGroup = r.text("producerGroup")
	return r.err()
}

// NotifyConsumerIdsChangedRequest is the header of NOTIFY_CONSUMER_IDS_CHANGED (40), which
// the broker sends oneway to a group's members.
type NotifyConsumerIdsChangedRequest struct{ ConsumerGroup string }

// Encode writes the header.
func (h *NotifyConsumerIdsChangedRequest) Encode(w *ExtWriter) {
	w.String("consumerGroup", h.ConsumerGroup)
}

// ViewMessageRequest is the header of VIEW_MESSAGE_BY_ID (33).
type ViewMessageRequest struct{ Offset int64 }

// Decode reads the header.
func (h *ViewMessageRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Offset = r.int64("offset")
	return r.err()
}

// GetConsumeStatsRequest is the header of GET_CONSUME_STATS (208).
type GetConsumeStatsRequest struct {
	ConsumerGroup string
	Topic         string
}

// Decode reads the header.
func (h *GetConsumeStatsRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.ConsumerGroup, h.Topic = r.text("consumerGroup"), r.optText("topic")
	return r.err()
}

// ViewBrokerStatsDataRequest is the header of VIEW_BROKER_STATS_DATA (315).
type ViewBrokerStatsDataRequest struct{ StatsName, StatsKey string }

// Decode reads the header.
func (h *ViewBrokerStatsDataRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.StatsName, h.StatsKey = r.text("statsName"), r.text("statsKey")
	return r.err()
}

// QueryMessageRequest is the header of QUERY_MESSAGE (12).
type QueryMessageRequest struct {
	Topic          string
	Key            string
	MaxNum         int32
	BeginTimestamp int64 // ms
	EndTimestamp   int64 // ms
}

// Decode reads the header.
func (h *QueryMessageRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = QueryMessageRequest{
		Topic: r.text("topic"), Key: r.text("key"), MaxNum: r.int32("maxNum"),
		BeginTimestamp: r.int64("beginTimestamp"), EndTimestamp: r.int64("endTimestamp"),
	}
	return r.err()
}
