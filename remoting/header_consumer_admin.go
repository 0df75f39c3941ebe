package remoting

// GetBrokerConsumeStatsRequest is the header of GET_BROKER_CONSUME_STATS (317).
type GetBrokerConsumeStatsRequest struct {
	IsOrder bool
}

// Decode reads the header.
func (h *GetBrokerConsumeStatsRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *GetBrokerConsumeStatsRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetBrokerConsumeStatsRequest) fields(f *headerFields) {
	f.boolOr("isOrder", &h.IsOrder, false)
}

// QueryTopicsByConsumerRequest is the header of QUERY_TOPICS_BY_CONSUMER (343).
type QueryTopicsByConsumerRequest struct {
	Group string
}

// Decode reads the header.
func (h *QueryTopicsByConsumerRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *QueryTopicsByConsumerRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *QueryTopicsByConsumerRequest) fields(f *headerFields) {
	f.text("group", &h.Group)
}

// QuerySubscriptionByConsumerRequest is the header of QUERY_SUBSCRIPTION_BY_CONSUMER (345).
type QuerySubscriptionByConsumerRequest struct {
	Group string
	Topic string
}

// Decode reads the header.
func (h *QuerySubscriptionByConsumerRequest) Decode(fields *Fields) error {
	return decodeHeader(fields, h)
}

// Encode writes the header.
func (h *QuerySubscriptionByConsumerRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *QuerySubscriptionByConsumerRequest) fields(f *headerFields) {
	f.text("group", &h.Group)
	f.optText("topic", &h.Topic)
}

// QueryConsumeTimeSpanRequest is the header of QUERY_CONSUME_TIME_SPAN (303).
type QueryConsumeTimeSpanRequest struct {
	Topic string
	Group string
}

// Decode reads the header.
func (h *QueryConsumeTimeSpanRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *QueryConsumeTimeSpanRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *QueryConsumeTimeSpanRequest) fields(f *headerFields) {
	f.text("topic", &h.Topic)
	f.text("group", &h.Group)
}

// CloneGroupOffsetRequest is the header of CLONE_GROUP_OFFSET (314).
type CloneGroupOffsetRequest struct {
	SrcGroup  string
	DestGroup string
	Topic     string
	Offline   bool
}

// Decode reads the header.
func (h *CloneGroupOffsetRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *CloneGroupOffsetRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *CloneGroupOffsetRequest) fields(f *headerFields) {
	f.text("srcGroup", &h.SrcGroup)
	f.text("destGroup", &h.DestGroup)
	f.optText("topic", &h.Topic)
	f.boolOr("offline", &h.Offline, false)
}

// QueryConsumeQueueRequest is the header of QUERY_CONSUME_QUEUE (321).
type QueryConsumeQueueRequest struct {
	Topic         string
	QueueID       int32
	Index         int64 // queue offset to begin at
	Count         int32
	ConsumerGroup string
}

// Decode reads the header.
func (h *QueryConsumeQueueRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *QueryConsumeQueueRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *QueryConsumeQueueRequest) fields(f *headerFields) {
	f.optText("topic", &h.Topic)
	f.optInt32("queueId", &h.QueueID, 0)
	f.optInt64("index", &h.Index, 0)
	f.optInt32("count", &h.Count, 0)
	f.optText("consumerGroup", &h.ConsumerGroup)
}

// UpdateAndGetGroupForbiddenRequest is the header of UPDATE_AND_GET_GROUP_FORBIDDEN (353).
type UpdateAndGetGroupForbiddenRequest struct {
	Group    string
	Topic    string
	Readable string // "true", "false", or empty: only ask
}

// Decode reads the header.
func (h *UpdateAndGetGroupForbiddenRequest) Decode(fields *Fields) error {
	return decodeHeader(fields, h)
}

// Encode writes the header.
func (h *UpdateAndGetGroupForbiddenRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *UpdateAndGetGroupForbiddenRequest) fields(f *headerFields) {
	f.text("group", &h.Group)
	f.text("topic", &h.Topic)
	f.optText("readable", &h.Readable)
}

// GetAllTopicConfigRequest is the header of GET_ALL_TOPIC_CONFIG (21); without fields it asks for
// everything.
type GetAllTopicConfigRequest struct {
	TopicSeq    int32  // first topic of the page, -1: no pages
	DataVersion string // JSON of the version the asker has
	MaxTopicNum int32
}

// Decode reads the header.
func (h *GetAllTopicConfigRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *GetAllTopicConfigRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetAllTopicConfigRequest) fields(f *headerFields) {
	f.optInt32("topicSeq", &h.TopicSeq, -1)
	f.optText("dataVersion", &h.DataVersion)
	f.optInt32("maxTopicNum", &h.MaxTopicNum, -1)
}

// GetAllTopicConfigResponse answers GET_ALL_TOPIC_CONFIG.
type GetAllTopicConfigResponse struct {
	TotalTopicNum int32
}

// Decode reads the header.
func (h *GetAllTopicConfigResponse) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *GetAllTopicConfigResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetAllTopicConfigResponse) fields(f *headerFields) {
	f.optInt32("totalTopicNum", &h.TotalTopicNum, 0)
}

// GetAllSubscriptionGroupRequest is the header of GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201); without
// fields it asks for everything.
type GetAllSubscriptionGroupRequest struct {
	GroupSeq    int32  // first group of the page, -1: no pages
	DataVersion string // JSON of the version the asker has
	MaxGroupNum int32
}

// Decode reads the header.
func (h *GetAllSubscriptionGroupRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *GetAllSubscriptionGroupRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetAllSubscriptionGroupRequest) fields(f *headerFields) {
	f.optInt32("groupSeq", &h.GroupSeq, -1)
	f.optText("dataVersion", &h.DataVersion)
	f.optInt32("maxGroupNum", &h.MaxGroupNum, -1)
}

// GetAllSubscriptionGroupResponse answers GET_ALL_SUBSCRIPTIONGROUP_CONFIG.
type GetAllSubscriptionGroupResponse struct {
	TotalGroupNum int32
}

// Decode reads the header.
func (h *GetAllSubscriptionGroupResponse) Decode(fields *Fields) error {
	return decodeHeader(fields, h)
}

// Encode writes the header.
func (h *GetAllSubscriptionGroupResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetAllSubscriptionGroupResponse) fields(f *headerFields) {
	f.optInt32("totalGroupNum", &h.TotalGroupNum, 0)
}
