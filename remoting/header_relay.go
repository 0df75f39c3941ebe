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
	r := headerReader{fields: fields}
	*h = ResetConsumerClientOffsetRequest{
		Topic:     r.text("topic"),
		Group:     r.text("group"),
		Timestamp: r.optInt64("timestamp", 0),
		IsForce:   r.optBool("isForce", false),
	}
	return r.err()
}

// Encode writes the header.
func (h *ResetConsumerClientOffsetRequest) Encode(w *ExtWriter) {
	w.String("topic", h.Topic)
	w.String("group", h.Group)
	w.optInt("timestamp", h.Timestamp, 0)
	w.Bool("isForce", h.IsForce)
}

// GetConsumerStatusFromClientRequest is the header of GET_CONSUMER_STATUS_FROM_CLIENT (221).
type GetConsumerStatusFromClientRequest struct {
	Topic string
	Group string
}

// Decode reads the header.
func (h *GetConsumerStatusFromClientRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = GetConsumerStatusFromClientRequest{
		Topic: r.text("topic"),
		Group: r.text("group"),
	}
	return r.err()
}

// Encode writes the header.
func (h *GetConsumerStatusFromClientRequest) Encode(w *ExtWriter) {
	w.String("topic", h.Topic)
	w.String("group", h.Group)
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
	r := headerReader{fields: fields}
	*h = InvokeBrokerToResetOffsetRequest{
		Topic:     r.text("topic"),
		Group:     r.text("group"),
		Timestamp: r.int64("timestamp"),
		IsForce:   r.optBool("isForce", false),
		QueueID:   r.optInt32("queueId", -1),
		Offset:    r.optInt64("offset", -1),
	}
	return r.err()
}

// Encode writes the header.
func (h *InvokeBrokerToResetOffsetRequest) Encode(w *ExtWriter) {
	w.String("topic", h.Topic)
	w.String("group", h.Group)
	w.Int("timestamp", h.Timestamp)
	w.Bool("isForce", h.IsForce)
	w.optInt("queueId", int64(h.QueueID), -1)
	w.optInt("offset", h.Offset, -1)
}

// InvokeBrokerToGetConsumerStatusRequest is the header of INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223).
type InvokeBrokerToGetConsumerStatusRequest struct {
	Topic      string
	Group      string
	ClientAddr string // a client id in spite of its name; empty: every client
}

// Decode reads the header.
func (h *InvokeBrokerToGetConsumerStatusRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = InvokeBrokerToGetConsumerStatusRequest{
		Topic:      r.text("topic"),
		Group:      r.text("group"),
		ClientAddr: r.optText("clientAddr"),
	}
	return r.err()
}

// Encode writes the header.
func (h *InvokeBrokerToGetConsumerStatusRequest) Encode(w *ExtWriter) {
	w.String("topic", h.Topic)
	w.String("group", h.Group)
	w.optString("clientAddr", h.ClientAddr)
}

// GetConsumerRunningInfoRequest is the header of GET_CONSUMER_RUNNING_INFO (307).
type GetConsumerRunningInfoRequest struct {
	ConsumerGroup string
	ClientID      string
	JstackEnable  bool
}

// Decode reads the header.
func (h *GetConsumerRunningInfoRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = GetConsumerRunningInfoRequest{
		ConsumerGroup: r.text("consumerGroup"),
		ClientID:      r.text("clientId"),
		JstackEnable:  r.optBool("jstackEnable", false),
	}
	return r.err()
}

// Encode writes the header.
func (h *GetConsumerRunningInfoRequest) Encode(w *ExtWriter) {
	w.String("consumerGroup", h.ConsumerGroup)
	w.String("clientId", h.ClientID)
	w.Bool("jstackEnable", h.JstackEnable)
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
func (h *ConsumeMessageDirectlyRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = ConsumeMessageDirectlyRequest{
		ConsumerGroup: r.text("consumerGroup"),
		ClientID:      r.optText("clientId"),
		MsgID:         r.optText("msgId"),
		BrokerName:    r.optText("brokerName"),
		Topic:         r.optText("topic"),
		TopicSysFlag:  r.optInt32("topicSysFlag", 0),
		GroupSysFlag:  r.optInt32("groupSysFlag", 0),
	}
	return r.err()
}

// Encode writes the header.
func (h *ConsumeMessageDirectlyRequest) Encode(w *ExtWriter) {
	w.String("consumerGroup", h.ConsumerGroup)
	w.optString("clientId", h.ClientID)
	w.optString("msgId", h.MsgID)
	w.optString("brokerName", h.BrokerName)
	w.optString("topic", h.Topic)
	w.optInt("topicSysFlag", int64(h.TopicSysFlag), 0)
	w.optInt("groupSysFlag", int64(h.GroupSysFlag), 0)
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
func (h *PushReplyMessageRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = PushReplyMessageRequest{
		ProducerGroup:         r.text("producerGroup"),
		Topic:                 r.text("topic"),
		DefaultTopic:          r.text("defaultTopic"),
		DefaultTopicQueueNums: r.int32("defaultTopicQueueNums"),
		QueueID:               r.int32("queueId"),
		SysFlag:               r.int32("sysFlag"),
		BornTimestamp:         r.int64("bornTimestamp"),
		Flag:                  r.int32("flag"),
		Properties:            r.optText("properties"),
		ReconsumeTimes:        r.optInt32("reconsumeTimes", 0),
		UnitMode:              r.optBool("unitMode", false),
		BornHost:              r.text("bornHost"),
		StoreHost:             r.text("storeHost"),
		StoreTimestamp:        r.int64("storeTimestamp"),
	}
	return r.err()
}

// Encode writes the header.
func (h *PushReplyMessageRequest) Encode(w *ExtWriter) {
	w.String("producerGroup", h.ProducerGroup)
	w.String("topic", h.Topic)
	w.String("defaultTopic", h.DefaultTopic)
	w.Int("defaultTopicQueueNums", int64(h.DefaultTopicQueueNums))
	w.Int("queueId", int64(h.QueueID))
	w.Int("sysFlag", int64(h.SysFlag))
	w.Int("bornTimestamp", h.BornTimestamp)
	w.Int("flag", int64(h.Flag))
	w.optString("properties", h.Properties)
	w.Int("reconsumeTimes", int64(h.ReconsumeTimes))
	w.Bool("unitMode", h.UnitMode)
	w.String("bornHost", h.BornHost)
	w.String("storeHost", h.StoreHost)
	w.Int("storeTimestamp", h.StoreTimestamp)
}
