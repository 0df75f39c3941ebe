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
func (h *CreateTopicRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *CreateTopicRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *CreateTopicRequest) fields(f *headerFields) {
	f.anyText("topic", &h.Topic)
	f.optText("defaultTopic", &h.DefaultTopic)
	f.int32("readQueueNums", &h.ReadQueueNums)
	f.int32("writeQueueNums", &h.WriteQueueNums)
	f.int32("perm", &h.Perm)
	f.optText("topicFilterType", &h.TopicFilterType)
	f.int32Or("topicSysFlag", &h.TopicSysFlag, 0)
	f.boolOr("order", &h.Order, false)
	f.optText("attributes", &h.Attributes)
	f.boolOr("force", &h.Force, false)
}

// TopicRequest is the header of the requests that name one topic and nothing else that
// matters: DELETE_TOPIC_IN_BROKER (215), GET_TOPIC_CONFIG (351), GET_TOPIC_STATS_INFO (202),
// QUERY_TOPIC_CONSUME_BY_WHO (300), REGISTER_TOPIC_IN_NAMESRV (217).
type TopicRequest struct{ Topic string }

// Decode reads the header.
func (h *TopicRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *TopicRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *TopicRequest) fields(f *headerFields) {
	f.text("topic", &h.Topic)
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
func (h *DeleteSubscriptionGroupRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *DeleteSubscriptionGroupRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *DeleteSubscriptionGroupRequest) fields(f *headerFields) {
	f.text("groupName", &h.GroupName)
	f.boolOr("cleanOffset", &h.CleanOffset, false)
}

// GetSubscriptionGroupRequest is the header of GET_SUBSCRIPTIONGROUP_CONFIG (352).
type GetSubscriptionGroupRequest struct{ Group string }

// Decode reads the header.
func (h *GetSubscriptionGroupRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *GetSubscriptionGroupRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetSubscriptionGroupRequest) fields(f *headerFields) {
	f.text("group", &h.Group)
}
