package remoting

// EndTransactionRequest is the header of END_TRANSACTION (37).
type EndTransactionRequest struct {
	ProducerGroup        string
	TranStateTableOffset int64 // queue offset of the half message
	CommitLogOffset      int64 // of the half message
	CommitOrRollback     int32 // SysFlagCommit, SysFlagRollback or 0: unknown
	FromTransactionCheck bool
	MsgID                string // the unique key
	TransactionID        string
	Topic                string
}

// Decode reads the header.
func (h *EndTransactionRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = EndTransactionRequest{
		ProducerGroup:        r.text("producerGroup"),
		TranStateTableOffset: r.int64("tranStateTableOffset"),
		CommitLogOffset:      r.int64("commitLogOffset"),
		CommitOrRollback:     r.int32("commitOrRollback"),
		FromTransactionCheck: r.optBool("fromTransactionCheck", false),
		MsgID:                r.optText("msgId"),
		TransactionID:        r.optText("transactionId"),
		Topic:                r.optText("topic"),
	}
	return r.err()
}

// Encode writes the header.
func (h *EndTransactionRequest) Encode(w *ExtWriter) {
	w.String("producerGroup", h.ProducerGroup)
	w.Int("tranStateTableOffset", h.TranStateTableOffset)
	w.Int("commitLogOffset", h.CommitLogOffset)
	w.Int("commitOrRollback", int64(h.CommitOrRollback))
	w.Bool("fromTransactionCheck", h.FromTransactionCheck)
	w.optString("msgId", h.MsgID)
	w.optString("transactionId", h.TransactionID)
	w.optString("topic", h.Topic)
}

// CheckTransactionStateRequest is the header of CHECK_TRANSACTION_STATE (39), which the broker
// sends oneway to a producer; the half message is the body.
type CheckTransactionStateRequest struct {
	Topic                string
	TranStateTableOffset int64
	CommitLogOffset      int64
	MsgID                string
	TransactionID        string
	OffsetMsgID          string
	BrokerName           string
}

// Decode reads the header.
func (h *CheckTransactionStateRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = CheckTransactionStateRequest{
		Topic:                r.optText("topic"),
		TranStateTableOffset: r.int64("tranStateTableOffset"),
		CommitLogOffset:      r.int64("commitLogOffset"),
		MsgID:                r.optText("msgId"),
		TransactionID:        r.optText("transactionId"),
		OffsetMsgID:          r.optText("offsetMsgId"),
		BrokerName:           r.optText("bname"),
	}
	return r.err()
}

// Encode writes the header.
func (h *CheckTransactionStateRequest) Encode(w *ExtWriter) {
	w.optString("topic", h.Topic)
	w.Int("tranStateTableOffset", h.TranStateTableOffset)
	w.Int("commitLogOffset", h.CommitLogOffset)
	w.optString("msgId", h.MsgID)
	w.optString("transactionId", h.TransactionID)
	w.optString("offsetMsgId", h.OffsetMsgID)
	w.optString("bname", h.BrokerName)
}

// ResumeCheckHalfMessageRequest is the header of RESUME_CHECK_HALF_MESSAGE (323).
type ResumeCheckHalfMessageRequest struct {
	Topic string
	MsgID string // an offset id
}

// Decode reads the header.
func (h *ResumeCheckHalfMessageRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = ResumeCheckHalfMessageRequest{
		Topic: r.optText("topic"),
		MsgID: r.optText("msgId"),
	}
	return r.err()
}

// Encode writes the header.
func (h *ResumeCheckHalfMessageRequest) Encode(w *ExtWriter) {
	w.optString("topic", h.Topic)
	w.optString("msgId", h.MsgID)
}

// RecallMessageRequest is the header of RECALL_MESSAGE (370).
type RecallMessageRequest struct {
	ProducerGroup string
	Topic         string
	RecallHandle  string
}

// Decode reads the header.
func (h *RecallMessageRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = RecallMessageRequest{
		ProducerGroup: r.optText("producerGroup"),
		Topic:         r.text("topic"),
		RecallHandle:  r.optText("recallHandle"),
	}
	return r.err()
}

// Encode writes the header.
func (h *RecallMessageRequest) Encode(w *ExtWriter) {
	w.optString("producerGroup", h.ProducerGroup)
	w.String("topic", h.Topic)
	w.String("recallHandle", h.RecallHandle)
}

// RecallMessageResponse answers RECALL_MESSAGE.
type RecallMessageResponse struct {
	MsgID string
}

// Decode reads the header.
func (h *RecallMessageResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = RecallMessageResponse{
		MsgID: r.text("msgId"),
	}
	return r.err()
}

// Encode writes the header.
func (h *RecallMessageResponse) Encode(w *ExtWriter) {
	w.String("msgId", h.MsgID)
}
