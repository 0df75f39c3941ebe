package remoting

// GetBrokerConsumeStatsRequest is the header of GET_BROKER_CONSUME_STATS (317).
type GetBrokerConsumeStatsRequest struct {
	IsOrder bool
}

// Decode reads the header.
func (h *GetBrokerConsumeStatsRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = GetBrokerConsumeStatsRequest{
		IsOrder: r.optBool("isOrder", false),
	}
	return r.err()
}

// Encode writes the header.
func (h *GetBrokerConsumeStatsRequest) Encode(w *ExtWriter) {
	w.Bool("isOrder", h.IsOrder)
}

// QueryTopicsByConsumerRequest is the header of QUERY_TOPICS_BY_CONSUMER (343).
type QueryTopicsByConsumerRequest struct {
	Group string
}

// Decode reads the header.
func (h *QueryTopicsByConsumerRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = QueryTopicsByConsumerRequest{
		Group: r.text("group"),
	}
	return r.err()
}

// Encode writes the header.
func (h *QueryTopicsByConsumerRequest) Encode(w *ExtWriter) {
	w.String("group", h.Group)
}

// QuerySubscriptionByConsumerRequest is the header of QUERY_SUBSCRIPTION_BY_CONSUMER (345).
type QuerySubscriptionByConsumerRequest struct {
	Group string
	Topic string
}

// Decode reads the header.
func (h *QuerySubscriptionByConsumerRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = QuerySubscriptionByConsumerRequest{
		Group: r.text("group"),
		Topic: r.optText("topic"),
	}
	return r.err()
}

// Encode writes the header.
func (h *QuerySubscriptionByConsumerRequest) Encode(w *ExtWriter) {
	w.String("group", h.Group)
	w.optString("topic", h.Topic)
}

// QueryConsumeTimeSpanRequest is the header of QUERY_CONSUME_TIME_SPAN (303).
type QueryConsumeTimeSpanRequest struct {
	Topic string
	Group string
}

// Decode reads the header.
func (h *QueryConsumeTimeSpanRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = QueryConsumeTimeSpanRequest{
		Topic: r.text("topic"),
		Group: r.text("group"),
	}
	return r.err()
}

// Encode writes the header.
func (h *QueryConsumeTimeSpanRequest) Encode(w *ExtWriter) {
	w.String("topic", h.Topic)
	w.String("group", h.Group)
}

// CloneGroupOffsetRequest is the header of CLONE_GROUP_OFFSET (314).
type CloneGroupOffsetRequest struct {
	SrcGroup  string
	DestGroup string
	Topic     string
	Offline   bool
}

// Decode reads the header.
func (h *CloneGroupOffsetRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = CloneGroupOffsetRequest{
		SrcGroup:  r.text("srcGroup"),
		DestGroup: r.text("destGroup"),
		Topic:     r.optText("topic"),
		Offline:   r.optBool("offline", false),
	}
	return r.err()
}

// Encode writes the header.
func (h *CloneGroupOffsetRequest) Encode(w *ExtWriter) {
	w.String("srcGroup", h.SrcGroup)
	w.String("destGroup", h.DestGroup)
	w.optString("topic", h.Topic)
	w.Bool("offline", h.Offline)
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
func (h *QueryConsumeQueueRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = QueryConsumeQueueRequest{
		Topic:         r.optText("topic"),
		QueueID:       r.optInt32("queueId", 0),
		Index:         r.optInt64("index", 0),
		Count:         r.optInt32("count", 0),
		ConsumerGroup: r.optText("consumerGroup"),
	}
	return r.err()
}

// Encode writes the header.
func (h *QueryConsumeQueueRequest) Encode(w *ExtWriter) {
	w.optString("topic", h.Topic)
	w.optInt("queueId", int64(h.QueueID), 0)
	w.optInt("index", h.Index, 0)
	w.optInt("count", int64(h.Count), 0)
	w.optString("consumerGroup", h.ConsumerGroup)
}

// UpdateAndGetGroupForbiddenRequest is the header of UPDATE_AND_GET_GROUP_FORBIDDEN (353).
type UpdateAndGetGroupForbiddenRequest struct {
	Group    string
	Topic    string
	Readable string // "true", "false", or empty: only ask
}

// Decode reads the header.
func (h *UpdateAndGetGroupForbiddenRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = UpdateAndGetGroupForbiddenRequest{
		Group:    r.text("group"),
		Topic:    r.text("topic"),
		Readable: r.optText("readable"),
	}
	return r.err()
}

// Encode writes the header.
func (h *UpdateAndGetGroupForbiddenRequest) Encode(w *ExtWriter) {
	w.String("group", h.Group)
	w.String("topic", h.Topic)
	w.optString("readable", h.Readable)
}

// GetAllTopicConfigRequest is the header of GET_ALL_TOPIC_CONFIG (21); without fields it asks for
// everything.
type GetAllTopicConfigRequest struct {
	TopicSeq    int32  // first topic of the page, -1: no pages
	DataVersion string // JSON of the version the asker has
	MaxTopicNum int32
}

// Decode reads the header.
func (h *GetAllTopicConfigRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = GetAllTopicConfigRequest{
		TopicSeq:    r.optInt32("topicSeq", -1),
		DataVersion: r.optText("dataVersion"),
		MaxTopicNum: r.optInt32("maxTopicNum", -1),
	}
	return r.err()
}

// Encode writes the header.
func (h *GetAllTopicConfigRequest) Encode(w *ExtWriter) {
	w.optInt("topicSeq", int64(h.TopicSeq), -1)
	w.optString("dataVersion", h.DataVersion)
	w.optInt("maxTopicNum", int64(h.MaxTopicNum), -1)
}

// GetAllTopicConfigResponse answers GET_ALL_TOPIC_CONFIG.
type GetAllTopicConfigResponse struct {
	TotalTopicNum int32
}

// Decode reads the header.
func (h *GetAllTopicConfigResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = GetAllTopicConfigResponse{
		TotalTopicNum: r.optInt32("totalTopicNum", 0),
	}
	return r.err()
}

// Encode writes the header.
func (h *GetAllTopicConfigResponse) Encode(w *ExtWriter) {
	w.optInt("totalTopicNum", int64(h.TotalTopicNum), 0)
}

// GetAllSubscriptionGroupRequest is the header of GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201); without
// fields it asks for everything.
type GetAllSubscriptionGroupRequest struct {
	GroupSeq    int32  // first group of the page, -1: no pages
	DataVersion string // JSON of the version the asker has
	MaxGroupNum int32
}

// Decode reads the header.
func (h *GetAllSubscriptionGroupRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = GetAllSubscriptionGroupRequest{
		GroupSeq:    r.optInt32("groupSeq", -1),
		DataVersion: r.optText("dataVersion"),
		MaxGroupNum: r.optInt32("maxGroupNum", -1),
	}
	return r.err()
}

// Encode writes the header.
func (h *GetAllSubscriptionGroupRequest) Encode(w *ExtWriter) {
	w.optInt("groupSeq", int64(h.GroupSeq), -1)
	w.optString("dataVersion", h.DataVersion)
	w.optInt("maxGroupNum", int64(h.MaxGroupNum), -1)
}

// GetAllSubscriptionGroupResponse answers GET_ALL_SUBSCRIPTIONGROUP_CONFIG.
type GetAllSubscriptionGroupResponse struct {
	TotalGroupNum int32
}

// Decode reads the header.
func (h *GetAllSubscriptionGroupResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = GetAllSubscriptionGroupResponse{
		TotalGroupNum: r.optInt32("totalGroupNum", 0),
	}
	return r.err()
}

// Encode writes the header.
func (h *GetAllSubscriptionGroupResponse) Encode(w *ExtWriter) {
	w.optInt("totalGroupNum", int64(h.TotalGroupNum), 0)
}
