package remoting

// ResetConsumerClientOffsetRequest is the header of RESET_CONSUMER_CLIENT_OFFSET (220), which the
// broker sends oneway to a consumer.
type ResetConsumerClientOffsetRequest struct {
	Topic     string
	Group     string
	Timestamp int64 // ms
	IsForce   bool
}

// Decode reads the header.
func (h *ResetConsumerClientOffsetRequest) Decode(fields *Fields) error {
	return decodeHeader(fields, h)
}

// Encode writes the header.
func (h *ResetConsumerClientOffsetRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *ResetConsumerClientOffsetRequest) fields(f *headerFields) {
	f.text("topic", &h.Topic)
	f.text("group", &h.Group)
	f.optInt64("timestamp", &h.Timestamp, 0)
	f.boolOr("isForce", &h.IsForce, false)
}

// GetConsumerStatusFromClientRequest is the header of GET_CONSUMER_STATUS_FROM_CLIENT (221).
type GetConsumerStatusFromClientRequest struct {
	Topic string
	Group string
}

// Decode reads the header.
func (h *GetConsumerStatusFromClientRequest) Decode(fields *Fields) error {
	return decodeHeader(fields, h)
}

// Encode writes the header.
func (h *GetConsumerStatusFromClientRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetConsumerStatusFromClientRequest) fields(f *headerFields) {
	f.text("topic", &h.Topic)
	f.text("group", &h.Group)
}

// InvokeBrokerToResetOffsetRequest is the header of INVOKE_BROKER_TO_RESET_OFFSET (222).
type InvokeBrokerToResetOffsetRequest struct {
	Topic     string
	Group     string
	Timestamp int64 // ms
	IsForce   bool
	QueueID   int32 // -1: every queue
	Offset    int64 // -1: by timestamp
}

// Decode reads the header.
func (h *InvokeBrokerToResetOffsetRequest) Decode(fields *Fields) error {
	return decodeHeader(fields, h)
}

// Encode writes the header.
func (h *InvokeBrokerToResetOffsetRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *InvokeBrokerToResetOffsetRequest) fields(f *headerFields) {
	f.text("topic", &h.Topic)
	f.text("group", &h.Group)
	f.int64("timestamp", &h.Timestamp)
	f.boolOr("isForce", &h.IsForce, false)
	f.optInt32("queueId", &h.QueueID, -1)
	f.optInt64("offset", &h.Offset, -1)
}

// InvokeBrokerToGetConsumerStatusRequest is the header of INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223).
type InvokeBrokerToGetConsumerStatusRequest struct {
	Topic      string
	Group      string
	ClientAddr string // a client id in spite of its name; empty: every client
}

// Decode reads the header.
func (h *InvokeBrokerToGetConsumerStatusRequest) Decode(fields *Fields) error {
	return decodeHeader(fields, h)
}

// Encode writes the header.
func (h *InvokeBrokerToGetConsumerStatusRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *InvokeBrokerToGetConsumerStatusRequest) fields(f *headerFields) {
	f.text("topic", &h.Topic)
	f.text("group", &h.Group)
	f.optText("clientAddr", &h.ClientAddr)
}

// GetConsumerRunningInfoRequest is the header of GET_CONSUMER_RUNNING_INFO (307).
type GetConsumerRunningInfoRequest struct {
	ConsumerGroup string
	ClientID      string
	JstackEnable  bool
}

// Decode reads the header.
func (h *GetConsumerRunningInfoRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *GetConsumerRunningInfoRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetConsumerRunningInfoRequest) fields(f *headerFields) {
	f.text("consumerGroup", &h.ConsumerGroup)
	f.text("clientId", &h.ClientID)
	f.boolOr("jstackEnable", &h.JstackEnable, false)
}

// ConsumeMessageDirectlyRequest is the header of CONSUME_MESSAGE_DIRECTLY (309).
type ConsumeMessageDirectlyRequest struct {
	ConsumerGroup string
	ClientID      string
	MsgID         string
	BrokerName    string
	Topic         string
	TopicSysFlag  int32
	GroupSysFlag  int32
}

// Decode reads the header.
func (h *ConsumeMessageDirectlyRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *ConsumeMessageDirectlyRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *ConsumeMessageDirectlyRequest) fields(f *headerFields) {
	f.text("consumerGroup", &h.ConsumerGroup)
	f.optText("clientId", &h.ClientID)
	f.optText("msgId", &h.MsgID)
	f.optText("brokerName", &h.BrokerName)
	f.optText("topic", &h.Topic)
	f.optInt32("topicSysFlag", &h.TopicSysFlag, 0)
	f.optInt32("groupSysFlag", &h.GroupSysFlag, 0)
}

// PushReplyMessageRequest is the header of PUSH_REPLY_MESSAGE_TO_CLIENT (326), which the broker
// sends to the requester of a request-reply.
type PushReplyMessageRequest struct {
	ProducerGroup         string
	Topic                 string
	DefaultTopic          string
	DefaultTopicQueueNums int32
	QueueID               int32
	SysFlag               int32
	BornTimestamp         int64
	Flag                  int32
	Properties            string
	ReconsumeTimes        int32
	UnitMode              bool
	BornHost              string // host:port
	StoreHost             string // host:port
	StoreTimestamp        int64
}

// Decode reads the header.
func (h *PushReplyMessageRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *PushReplyMessageRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *PushReplyMessageRequest) fields(f *headerFields) {
	f.text("producerGroup", &h.ProducerGroup)
	f.text("topic", &h.Topic)
	f.text("defaultTopic", &h.DefaultTopic)
	f.int32("defaultTopicQueueNums", &h.DefaultTopicQueueNums)
	f.int32("queueId", &h.QueueID)
	f.int32("sysFlag", &h.SysFlag)
	f.int64("bornTimestamp", &h.BornTimestamp)
	f.int32("flag", &h.Flag)
	f.optText("properties", &h.Properties)
	f.int32Or("reconsumeTimes", &h.ReconsumeTimes, 0)
	f.boolOr("unitMode", &h.UnitMode, false)
	f.text("bornHost", &h.BornHost)
	f.text("storeHost", &h.StoreHost)
	f.int64("storeTimestamp", &h.StoreTimestamp)
}
