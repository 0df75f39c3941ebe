package remoting

// UnregisterClientRequest is the header of UNREGISTER_CLIENT (35).
type UnregisterClientRequest struct {
	ClientID      string
	ProducerGroup string
	ConsumerGroup string
}

// Decode reads the header.
func (h *UnregisterClientRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *UnregisterClientRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *UnregisterClientRequest) fields(f *headerFields) {
	f.text("clientID", &h.ClientID)
	f.optText("producerGroup", &h.ProducerGroup)
	f.optText("consumerGroup", &h.ConsumerGroup)
}

// ConsumerGroupRequest is the header of the requests that name one group of consumers and nothing else:
// GET_CONSUMER_LIST_BY_GROUP (38), NOTIFY_CONSUMER_IDS_CHANGED (40), GET_CONSUMER_CONNECTION_LIST (203).
type ConsumerGroupRequest struct{ ConsumerGroup string }

// Decode reads the header.
func (h *ConsumerGroupRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *ConsumerGroupRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *ConsumerGroupRequest) fields(f *headerFields) {
	f.text("consumerGroup", &h.ConsumerGroup)
}

// GetConsumerListByGroupRequest is the header of GET_CONSUMER_LIST_BY_GROUP (38).
type GetConsumerListByGroupRequest = ConsumerGroupRequest

// GetConsumerConnectionListRequest is the header of GET_CONSUMER_CONNECTION_LIST (203).
type GetConsumerConnectionListRequest = ConsumerGroupRequest

// NotifyConsumerIdsChangedRequest is the header of NOTIFY_CONSUMER_IDS_CHANGED (40), which
// the broker sends oneway to a group's members.
type NotifyConsumerIdsChangedRequest = ConsumerGroupRequest

// GetProducerConnectionListRequest is the header of GET_PRODUCER_CONNECTION_LIST (204).
type GetProducerConnectionListRequest struct{ ProducerGroup string }

// Decode reads the header.
func (h *GetProducerConnectionListRequest) Decode(fields *Fields) error {
	return decodeHeader(fields, h)
}

// Encode writes the header.
func (h *GetProducerConnectionListRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetProducerConnectionListRequest) fields(f *headerFields) {
	f.text("producerGroup", &h.ProducerGroup)
}

// ViewMessageRequest is the header of VIEW_MESSAGE_BY_ID (33).
type ViewMessageRequest struct{ Offset int64 }

// Decode reads the header.
func (h *ViewMessageRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *ViewMessageRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *ViewMessageRequest) fields(f *headerFields) {
	f.int64("offset", &h.Offset)
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
func (h *GetConsumeStatsRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *GetConsumeStatsRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetConsumeStatsRequest) fields(f *headerFields) {
	f.text("consumerGroup", &h.ConsumerGroup)
	f.optText("topic", &h.Topic)
	f.optText("topicList", &h.TopicList)
	f.mark("showWaiting", &h.Waiting)
}

// ViewBrokerStatsDataRequest is the header of VIEW_BROKER_STATS_DATA (315).
type ViewBrokerStatsDataRequest struct{ StatsName, StatsKey string }

// Decode reads the header.
func (h *ViewBrokerStatsDataRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *ViewBrokerStatsDataRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *ViewBrokerStatsDataRequest) fields(f *headerFields) {
	f.text("statsName", &h.StatsName)
	f.text("statsKey", &h.StatsKey)
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
func (h *QueryMessageRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *QueryMessageRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *QueryMessageRequest) fields(f *headerFields) {
	f.text("topic", &h.Topic)
	f.text("key", &h.Key)
	f.int32("maxNum", &h.MaxNum)
	f.int64("beginTimestamp", &h.BeginTimestamp)
	f.int64("endTimestamp", &h.EndTimestamp)
	f.optText("indexType", &h.IndexType)
	f.mark("_UNIQUE_KEY_QUERY", &h.UniqueKey)
}
