package remoting

// PopMessageRequest is the header of POP_MESSAGE (200050). Text fields alias the frame.
type PopMessageRequest struct {
	ConsumerGroup  []byte
	Topic          []byte
	QueueID        int32 // -1: any
	MaxMsgNums     int32
	InvisibleTime  int64  // ms
	PollTime       int64  // ms to wait for messages
	BornTime       int64  // ms, the client's clock; 0: now
	InitMode       int32  // a new group starts at the minimum (0) or maximum (1)
	ExpressionType []byte // nil means TAG
	Expression     []byte
	Order          bool
	AttemptID      []byte
}

// Decode reads the header.
func (h *PopMessageRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *PopMessageRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *PopMessageRequest) fields(f *headerFields) {
	f.bytes("consumerGroup", &h.ConsumerGroup)
	f.bytes("topic", &h.Topic)
	f.int32("queueId", &h.QueueID)
	f.int32("maxMsgNums", &h.MaxMsgNums)
	f.int64("invisibleTime", &h.InvisibleTime)
	f.int64("pollTime", &h.PollTime)
	f.int64Or("bornTime", &h.BornTime, 0)
	f.int32("initMode", &h.InitMode)
	f.optBytes("expType", &h.ExpressionType)
	f.optBytes("exp", &h.Expression)
	f.boolOr("order", &h.Order, false)
	f.optBytes("attemptId", &h.AttemptID)
}

// PopMessageResponse is the header of every result of a pop, refusals too.
type PopMessageResponse struct {
	PopTime       int64 // ms
	InvisibleTime int64 // ms
	ReviveQID     int32
	RestNum       int64 // messages that wait beyond these
	// StartOffsetInfo is "retryFlag queueId offset" of each queue with messages, ";" between;
	// MsgOffsetInfo "retryFlag queueId offset,offset"; OrderCountInfo, of pops in order only,
	// "retryFlag queueId times" and "retryFlag qo<queueId>%<offset> times". nil: absent.
	StartOffsetInfo []byte
	MsgOffsetInfo   []byte
	OrderCountInfo  []byte
}

// Decode reads the header.
func (h *PopMessageResponse) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *PopMessageResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *PopMessageResponse) fields(f *headerFields) {
	f.int64("popTime", &h.PopTime)
	f.int64("invisibleTime", &h.InvisibleTime)
	f.int32("reviveQid", &h.ReviveQID)
	f.int64("restNum", &h.RestNum)
	f.optPlain("startOffsetInfo", &h.StartOffsetInfo)
	f.optPlain("msgOffsetInfo", &h.MsgOffsetInfo)
	f.optPlain("orderCountInfo", &h.OrderCountInfo)
}

// AckMessageRequest is the header of ACK_MESSAGE (200051). Text fields alias the frame.
type AckMessageRequest struct {
	ConsumerGroup []byte
	Topic         []byte
	QueueID       int32
	ExtraInfo     []byte // the pop's handle
	Offset        int64
	LiteTopic     []byte
}

// Decode reads the header.
func (h *AckMessageRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *AckMessageRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *AckMessageRequest) fields(f *headerFields) {
	f.bytes("consumerGroup", &h.ConsumerGroup)
	f.bytes("topic", &h.Topic)
	f.int32("queueId", &h.QueueID)
	f.bytes("extraInfo", &h.ExtraInfo)
	f.int64("offset", &h.Offset)
	f.optBytes("liteTopic", &h.LiteTopic)
}

// ChangeInvisibleTimeRequest is the header of CHANGE_MESSAGE_INVISIBLETIME (200053). Text fields
// alias the frame.
type ChangeInvisibleTimeRequest struct {
	ConsumerGroup []byte
	Topic         []byte
	QueueID       int32
	ExtraInfo     []byte // the pop's handle
	Offset        int64
	InvisibleTime int64 // ms from now
	LiteTopic     []byte
	Suspend       bool
}

// Decode reads the header.
func (h *ChangeInvisibleTimeRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *ChangeInvisibleTimeRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *ChangeInvisibleTimeRequest) fields(f *headerFields) {
	f.bytes("consumerGroup", &h.ConsumerGroup)
	f.bytes("topic", &h.Topic)
	f.int32("queueId", &h.QueueID)
	f.bytes("extraInfo", &h.ExtraInfo)
	f.int64("offset", &h.Offset)
	f.int64("invisibleTime", &h.InvisibleTime)
	f.optBytes("liteTopic", &h.LiteTopic)
	f.boolOr("suspend", &h.Suspend, false)
}

// ChangeInvisibleTimeResponse answers CHANGE_MESSAGE_INVISIBLETIME.
type ChangeInvisibleTimeResponse struct {
	PopTime       int64 // ms
	InvisibleTime int64 // ms
	ReviveQID     int32
}

// Decode reads the header.
func (h *ChangeInvisibleTimeResponse) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *ChangeInvisibleTimeResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *ChangeInvisibleTimeResponse) fields(f *headerFields) {
	f.int64("popTime", &h.PopTime)
	f.int64("invisibleTime", &h.InvisibleTime)
	f.int32("reviveQid", &h.ReviveQID)
}
