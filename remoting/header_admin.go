package remoting

// CreateTopicRequest is the header of UPDATE_AND_CREATE_TOPIC (17).
type CreateTopicRequest struct {
	Topic           string
	DefaultTopic    string
	ReadQueueNums   int32
	WriteQueueNums  int32
	Perm            int32
	TopicFilterType string
	TopicSysFlag    int32
	Order           bool
	Attributes      string // "+key=value,-key"
	Force           bool
}

// Decode reads the header.
func (h *CreateTopicRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = CreateTopicRequest{
		Topic: r.optText("topic"), DefaultTopic: r.optText("defaultTopic"),
		ReadQueueNums: r.int32("readQueueNums"), WriteQueueNums: r.int32("writeQueueNums"), Perm: r.int32("perm"),
		TopicFilterType: r.optText("topicFilterType"), TopicSysFlag: r.optInt32("topicSysFlag", 0),
		Order: r.optBool("order", false), Attributes: r.optText("attributes"), Force: r.optBool("force", false),
	}
	return r.err()
}

// Encode writes the header.
func (h *CreateTopicRequest) Encode(w *ExtWriter) {
	w.String("topic", h.Topic)
	w.optString("defaultTopic", h.DefaultTopic)
	w.Int("readQueueNums", int64(h.ReadQueueNums))
	w.Int("writeQueueNums", int64(h.WriteQueueNums))
	w.Int("perm", int64(h.Perm))
	w.optString("topicFilterType", h.TopicFilterType)
	w.Int("topicSysFlag", int64(h.TopicSysFlag))
	w.Bool("order", h.Order)
	w.optString("attributes", h.Attributes)
	w.Bool("force", h.Force)
}

// TopicRequest is the header of the requests that name one topic and nothing else that
// matters: DELETE_TOPIC_IN_BROKER (215), GET_TOPIC_CONFIG (351), GET_TOPIC_STATS_INFO (202),
// QUERY_TOPIC_CONSUME_BY_WHO (300).
type TopicRequest struct{ Topic string }

// Decode reads the header.
func (h *TopicRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Topic = r.text("topic")
	return r.err()
}

// Encode writes the header.
func (h *TopicRequest) Encode(w *ExtWriter) {
	w.String("topic", h.Topic)
}

// DeleteTopicRequest is the header of DELETE_TOPIC_IN_BROKER (215).
type DeleteTopicRequest = TopicRequest

// GetTopicConfigRequest is the header of GET_TOPIC_CONFIG (351).
type GetTopicConfigRequest = TopicRequest

// GetTopicStatsRequest is the header of GET_TOPIC_STATS_INFO (202).
type GetTopicStatsRequest = TopicRequest

// DeleteSubscriptionGroupRequest is the header of DELETE_SUBSCRIPTIONGROUP (207).
type DeleteSubscriptionGroupRequest struct {
	GroupName   string
	CleanOffset bool
}

// Decode reads the header.
func (h *DeleteSubscriptionGroupRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.GroupName, h.CleanOffset = r.text("groupName"), r.optBool("cleanOffset", false)
	return r.err()
}

// Encode writes the header.
func (h *DeleteSubscriptionGroupRequest) Encode(w *ExtWriter) {
	w.String("groupName", h.GroupName)
	w.Bool("cleanOffset", h.CleanOffset)
}

// GetSubscriptionGroupRequest is the header of GET_SUBSCRIPTIONGROUP_CONFIG (352).
type GetSubscriptionGroupRequest struct{ Group string }

// Decode reads the header.
func (h *GetSubscriptionGroupRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Group = r.text("group")
	return r.err()
}

// Encode writes the header.
func (h *GetSubscriptionGroupRequest) Encode(w *ExtWriter) {
	w.String("group", h.Group)
}
