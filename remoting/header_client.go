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

// Encode writes the header.
func (h *UnregisterClientRequest) Encode(w *ExtWriter) {
	w.String("clientID", h.ClientID)
	w.optString("producerGroup", h.ProducerGroup)
	w.optString("consumerGroup", h.ConsumerGroup)
}

// GetConsumerListByGroupRequest is the header of GET_CONSUMER_LIST_BY_GROUP (38).
type GetConsumerListByGroupRequest struct{ ConsumerGroup string }

// Decode reads the header.
func (h *GetConsumerListByGroupRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.ConsumerGroup = r.text("consumerGroup")
	return r.err()
}

// Encode writes the header.
func (h *GetConsumerListByGroupRequest) Encode(w *ExtWriter) {
	w.String("consumerGroup", h.ConsumerGroup)
}

// GetConsumerConnectionListRequest is the header of GET_CONSUMER_CONNECTION_LIST (203).
type GetConsumerConnectionListRequest struct{ ConsumerGroup string }

// Decode reads the header.
func (h *GetConsumerConnectionListRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.ConsumerGroup = r.text("consumerGroup")
	return r.err()
}

// Encode writes the header.
func (h *GetConsumerConnectionListRequest) Encode(w *ExtWriter) {
	w.String("consumerGroup", h.ConsumerGroup)
}

// GetProducerConnectionListRequest is the header of GET_PRODUCER_CONNECTION_LIST (204).
type GetProducerConnectionListRequest struct{ ProducerGroup string }

// Decode reads the header.
func (h *GetProducerConnectionListRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.ProducerGroup = r.text("producerGroup")
	return r.err()
}

// Encode writes the header.
func (h *GetProducerConnectionListRequest) Encode(w *ExtWriter) {
	w.String("producerGroup", h.ProducerGroup)
}

// NotifyConsumerIdsChangedRequest is the header of NOTIFY_CONSUMER_IDS_CHANGED (40), which
// the broker sends oneway to a group's members.
type NotifyConsumerIdsChangedRequest struct{ ConsumerGroup string }

// Encode writes the header.
func (h *NotifyConsumerIdsChangedRequest) Encode(w *ExtWriter) {
	w.String("consumerGroup", h.ConsumerGroup)
}

// Decode reads the header.
func (h *NotifyConsumerIdsChangedRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.ConsumerGroup = r.text("consumerGroup")
	return r.err()
}

// ViewMessageRequest is the header of VIEW_MESSAGE_BY_ID (33).
type ViewMessageRequest struct{ Offset int64 }

// Decode reads the header.
func (h *ViewMessageRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Offset = r.int64("offset")
	return r.err()
}

// Encode writes the header.
func (h *ViewMessageRequest) Encode(w *ExtWriter) {
	w.Int("offset", h.Offset)
}

// GetConsumeStatsRequest is the header of GET_CONSUME_STATS (208).
type GetConsumeStatsRequest struct {
	ConsumerGroup string
	Topic         string
	TopicList     string // separated by semicolons
	// Waiting asks this server for what is on its way to the group too; the real one passes over it.
	Waiting bool
}

// Decode reads the header.
func (h *GetConsumeStatsRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.ConsumerGroup, h.Topic, h.TopicList = r.text("consumerGroup"), r.optText("topic"), r.optText("topicList")
	h.Waiting = r.optBool("showWaiting", false)
	return r.err()
}

// Encode writes the header.
func (h *GetConsumeStatsRequest) Encode(w *ExtWriter) {
	w.String("consumerGroup", h.ConsumerGroup)
	w.optString("topic", h.Topic)
	w.optString("topicList", h.TopicList)
	if h.Waiting {
		w.Bool("showWaiting", true)
	}
}

// ViewBrokerStatsDataRequest is the header of VIEW_BROKER_STATS_DATA (315).
type ViewBrokerStatsDataRequest struct{ StatsName, StatsKey string }

// Decode reads the header.
func (h *ViewBrokerStatsDataRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.StatsName, h.StatsKey = r.text("statsName"), r.text("statsKey")
	return r.err()
}

// Encode writes the header.
func (h *ViewBrokerStatsDataRequest) Encode(w *ExtWriter) {
	w.String("statsName", h.StatsName)
	w.String("statsKey", h.StatsKey)
}

// QueryMessageRequest is the header of QUERY_MESSAGE (12).
type QueryMessageRequest struct {
	Topic          string
	Key            string
	MaxNum         int32
	BeginTimestamp int64 // ms
	EndTimestamp   int64 // ms
	// IndexType is K for one of KEYS, U for a unique key, T for tags; old clients send none
	// and mean K or U.
	IndexType string
	UniqueKey bool // the client's own mark for a look-up by unique key
}

// Decode reads the header.
func (h *QueryMessageRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = QueryMessageRequest{
		Topic: r.text("topic"), Key: r.text("key"), MaxNum: r.int32("maxNum"),
		BeginTimestamp: r.int64("beginTimestamp"), EndTimestamp: r.int64("endTimestamp"),
		IndexType: r.optText("indexType"), UniqueKey: r.optText("_UNIQUE_KEY_QUERY") == "true",
	}
	return r.err()
}

// Encode writes the header.
func (h *QueryMessageRequest) Encode(w *ExtWriter) {
	w.String("topic", h.Topic)
	w.String("key", h.Key)
	w.Int("maxNum", int64(h.MaxNum))
	w.Int("beginTimestamp", h.BeginTimestamp)
	w.Int("endTimestamp", h.EndTimestamp)
	w.optString("indexType", h.IndexType)
	if h.UniqueKey {
		w.String("_UNIQUE_KEY_QUERY", "true")
	}
}
