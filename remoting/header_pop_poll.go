package remoting

// PeekMessageRequest is the header of PEEK_MESSAGE (200052). Text fields alias the frame.
type PeekMessageRequest struct {
	ConsumerGroup []byte
	Topic         []byte
	QueueID       int32 // -1: any
	MaxMsgNums    int32
}

// Decode reads the header.
func (h *PeekMessageRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = PeekMessageRequest{
		ConsumerGroup: r.bytes("consumerGroup"),
		Topic:         r.bytes("topic"),
		QueueID:       r.int32("queueId"),
		MaxMsgNums:    r.int32("maxMsgNums"),
	}
	return r.err()
}

// Encode writes the header.
func (h *PeekMessageRequest) Encode(w *ExtWriter) {
	w.Bytes("consumerGroup", h.ConsumerGroup)
	w.Bytes("topic", h.Topic)
	w.Int("queueId", int64(h.QueueID))
	w.Int("maxMsgNums", int64(h.MaxMsgNums))
}

// NotificationRequest is the header of NOTIFICATION (200054). Text fields alias the frame.
type NotificationRequest struct {
	ConsumerGroup  []byte
	Topic          []byte
	QueueID        int32 // -1: any
	PollTime       int64 // ms to wait for messages
	BornTime       int64 // ms, the client's clock; 0: now
	Order          bool
	AttemptID      []byte
	ExpressionType []byte // nil means TAG
	Expression     []byte
}

// Decode reads the header.
func (h *NotificationRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = NotificationRequest{
		ConsumerGroup:  r.bytes("consumerGroup"),
		Topic:          r.bytes("topic"),
		QueueID:        r.int32("queueId"),
		PollTime:       r.int64("pollTime"),
		BornTime:       r.optInt64("bornTime", 0),
		Order:          r.optBool("order", false),
		AttemptID:      r.optBytes("attemptId"),
		ExpressionType: r.optBytes("expType"),
		Expression:     r.optBytes("exp"),
	}
	return r.err()
}

// Encode writes the header.
func (h *NotificationRequest) Encode(w *ExtWriter) {
	w.Bytes("consumerGroup", h.ConsumerGroup)
	w.Bytes("topic", h.Topic)
	w.Int("queueId", int64(h.QueueID))
	w.Int("pollTime", h.PollTime)
	w.Int("bornTime", h.BornTime)
	w.Bool("order", h.Order)
	w.optBytes("attemptId", h.AttemptID)
	w.optBytes("expType", h.ExpressionType)
	w.optBytes("exp", h.Expression)
}

// NotificationResponse answers NOTIFICATION.
type NotificationResponse struct {
	HasMsg      bool
	PollingFull bool // it was not held: too many are
}

// Decode reads the header.
func (h *NotificationResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = NotificationResponse{HasMsg: r.optBool("hasMsg", false), PollingFull: r.optBool("pollingFull", false)}
	return r.err()
}

// Encode writes the header.
func (h *NotificationResponse) Encode(w *ExtWriter) {
	w.Bool("hasMsg", h.HasMsg)
	w.Bool("pollingFull", h.PollingFull)
}

// PollingInfoRequest is the header of POLLING_INFO (200055). Text fields alias the frame.
type PollingInfoRequest struct {
	ConsumerGroup []byte
	Topic         []byte
	QueueID       int32 // -1: pops from any queue
}

// Decode reads the header.
func (h *PollingInfoRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = PollingInfoRequest{ConsumerGroup: r.bytes("consumerGroup"), Topic: r.bytes("topic"), QueueID: r.int32("queueId")}
	return r.err()
}

// Encode writes the header.
func (h *PollingInfoRequest) Encode(w *ExtWriter) {
	w.Bytes("consumerGroup", h.ConsumerGroup)
	w.Bytes("topic", h.Topic)
	w.Int("queueId", int64(h.QueueID))
}

// PollingInfoResponse answers POLLING_INFO.
type PollingInfoResponse struct {
	PollingNum int32 // pops that are held
}

// Decode reads the header.
func (h *PollingInfoResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = PollingInfoResponse{PollingNum: r.int32("pollingNum")}
	return r.err()
}

// Encode writes the header.
func (h *PollingInfoResponse) Encode(w *ExtWriter) { w.Int("pollingNum", int64(h.PollingNum)) }
