package remoting

// PeekMessageRequest is the header of PEEK_MESSAGE (200052). Text fields alias the frame.
type PeekMessageRequest struct {
	ConsumerGroup []byte
	Topic         []byte
	QueueID       int32 // -1: any
	MaxMsgNums    int32
}

// Decode reads the header.
func (h *PeekMessageRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *PeekMessageRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *PeekMessageRequest) fields(f *headerFields) {
	f.bytes("consumerGroup", &h.ConsumerGroup)
	f.bytes("topic", &h.Topic)
	f.int32("queueId", &h.QueueID)
	f.int32("maxMsgNums", &h.MaxMsgNums)
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
func (h *NotificationRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *NotificationRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *NotificationRequest) fields(f *headerFields) {
	f.bytes("consumerGroup", &h.ConsumerGroup)
	f.bytes("topic", &h.Topic)
	f.int32("queueId", &h.QueueID)
	f.int64("pollTime", &h.PollTime)
	f.int64Or("bornTime", &h.BornTime, 0)
	f.boolOr("order", &h.Order, false)
	f.optBytes("attemptId", &h.AttemptID)
	f.optBytes("expType", &h.ExpressionType)
	f.optBytes("exp", &h.Expression)
}

// NotificationResponse answers NOTIFICATION.
type NotificationResponse struct {
	HasMsg      bool
	PollingFull bool // it was not held: too many are
}

// Decode reads the header.
func (h *NotificationResponse) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *NotificationResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *NotificationResponse) fields(f *headerFields) {
	f.boolOr("hasMsg", &h.HasMsg, false)
	f.boolOr("pollingFull", &h.PollingFull, false)
}

// PollingInfoRequest is the header of POLLING_INFO (200055). Text fields alias the frame.
type PollingInfoRequest struct {
	ConsumerGroup []byte
	Topic         []byte
	QueueID       int32 // -1: pops from any queue
}

// Decode reads the header.
func (h *PollingInfoRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *PollingInfoRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *PollingInfoRequest) fields(f *headerFields) {
	f.bytes("consumerGroup", &h.ConsumerGroup)
	f.bytes("topic", &h.Topic)
	f.int32("queueId", &h.QueueID)
}

// PollingInfoResponse answers POLLING_INFO.
type PollingInfoResponse struct {
	PollingNum int32 // pops that are held
}

// Decode reads the header.
func (h *PollingInfoResponse) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *PollingInfoResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *PollingInfoResponse) fields(f *headerFields) {
	f.int32("pollingNum", &h.PollingNum)
}
