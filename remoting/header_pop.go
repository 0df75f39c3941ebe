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
func (h *PopMessageRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = PopMessageRequest{
		ConsumerGroup:  r.bytes("consumerGroup"),
		Topic:          r.bytes("topic"),
		QueueID:        r.int32("queueId"),
		MaxMsgNums:     r.int32("maxMsgNums"),
		InvisibleTime:  r.int64("invisibleTime"),
		PollTime:       r.int64("pollTime"),
		BornTime:       r.optInt64("bornTime", 0),
		InitMode:       r.int32("initMode"),
		ExpressionType: r.optBytes("expType"),
		Expression:     r.optBytes("exp"),
		Order:          r.optBool("order", false),
		AttemptID:      r.optBytes("attemptId"),
	}
	return r.err()
}

// Encode writes the header.
func (h *PopMessageRequest) Encode(w *ExtWriter) {
	w.Bytes("consumerGroup", h.ConsumerGroup)
	w.Bytes("topic", h.Topic)
	w.Int("queueId", int64(h.QueueID))
	w.Int("maxMsgNums", int64(h.MaxMsgNums))
	w.Int("invisibleTime", h.InvisibleTime)
	w.Int("pollTime", h.PollTime)
	w.Int("bornTime", h.BornTime)
	w.Int("initMode", int64(h.InitMode))
	w.optBytes("expType", h.ExpressionType)
	w.optBytes("exp", h.Expression)
	w.Bool("order", h.Order)
	w.optBytes("attemptId", h.AttemptID)
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
func (h *PopMessageResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = PopMessageResponse{
		PopTime:         r.int64("popTime"),
		InvisibleTime:   r.int64("invisibleTime"),
		ReviveQID:       r.int32("reviveQid"),
		RestNum:         r.int64("restNum"),
		StartOffsetInfo: r.optBytes("startOffsetInfo"),
		MsgOffsetInfo:   r.optBytes("msgOffsetInfo"),
		OrderCountInfo:  r.optBytes("orderCountInfo"),
	}
	return r.err()
}

// Encode writes the header.
func (h *PopMessageResponse) Encode(w *ExtWriter) {
	w.Int("popTime", h.PopTime)
	w.Int("invisibleTime", h.InvisibleTime)
	w.Int("reviveQid", int64(h.ReviveQID))
	w.Int("restNum", h.RestNum)
	w.optPlain("startOffsetInfo", h.StartOffsetInfo)
	w.optPlain("msgOffsetInfo", h.MsgOffsetInfo)
	w.optPlain("orderCountInfo", h.OrderCountInfo)
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
func (h *AckMessageRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = AckMessageRequest{
		ConsumerGroup: r.bytes("consumerGroup"),
		Topic:         r.bytes("topic"),
		QueueID:       r.int32("queueId"),
		ExtraInfo:     r.bytes("extraInfo"),
		Offset:        r.int64("offset"),
		LiteTopic:     r.optBytes("liteTopic"),
	}
	return r.err()
}

// Encode writes the header.
func (h *AckMessageRequest) Encode(w *ExtWriter) {
	w.Bytes("consumerGroup", h.ConsumerGroup)
	w.Bytes("topic", h.Topic)
	w.Int("queueId", int64(h.QueueID))
	w.Bytes("extraInfo", h.ExtraInfo)
	w.Int("offset", h.Offset)
	w.optBytes("liteTopic", h.LiteTopic)
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
func (h *ChangeInvisibleTimeRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = ChangeInvisibleTimeRequest{
		ConsumerGroup: r.bytes("consumerGroup"),
		Topic:         r.bytes("topic"),
		QueueID:       r.int32("queueId"),
		ExtraInfo:     r.bytes("extraInfo"),
		Offset:        r.int64("offset"),
		InvisibleTime: r.int64("invisibleTime"),
		LiteTopic:     r.optBytes("liteTopic"),
		Suspend:       r.optBool("suspend", false),
	}
	return r.err()
}

// Encode writes the header.
func (h *ChangeInvisibleTimeRequest) Encode(w *ExtWriter) {
	w.Bytes("consumerGroup", h.ConsumerGroup)
	w.Bytes("topic", h.Topic)
	w.Int("queueId", int64(h.QueueID))
	w.Bytes("extraInfo", h.ExtraInfo)
	w.Int("offset", h.Offset)
	w.Int("invisibleTime", h.InvisibleTime)
	w.optBytes("liteTopic", h.LiteTopic)
	w.Bool("suspend", h.Suspend)
}

// ChangeInvisibleTimeResponse answers CHANGE_MESSAGE_INVISIBLETIME.
type ChangeInvisibleTimeResponse struct {
	PopTime       int64 // ms
	InvisibleTime int64 // ms
	ReviveQID     int32
}

// Decode reads the header.
func (h *ChangeInvisibleTimeResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = ChangeInvisibleTimeResponse{
		PopTime:       r.int64("popTime"),
		InvisibleTime: r.int64("invisibleTime"),
		ReviveQID:     r.int32("reviveQid"),
	}
	return r.err()
}

// Encode writes the header.
func (h *ChangeInvisibleTimeResponse) Encode(w *ExtWriter) {
	w.Int("popTime", h.PopTime)
	w.Int("invisibleTime", h.InvisibleTime)
	w.Int("reviveQid", int64(h.ReviveQID))
}

// optBytes reads a field that aliases the frame; nil when absent.
func (r *headerReader) optBytes(name string) []byte {
	v, _ := r.fields.Get(name)
	return v
}

// optPlain adds a field whose value needs no escapes; nil is absent.
func (w *ExtWriter) optPlain(key string, value []byte) {
	if value != nil {
		w.Plain(key, value)
	}
}
