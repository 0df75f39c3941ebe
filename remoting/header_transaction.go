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
func (h *EndTransactionRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *EndTransactionRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *EndTransactionRequest) fields(f *headerFields) {
	f.text("producerGroup", &h.ProducerGroup)
	f.int64("tranStateTableOffset", &h.TranStateTableOffset)
	f.int64("commitLogOffset", &h.CommitLogOffset)
	f.int32("commitOrRollback", &h.CommitOrRollback)
	f.boolOr("fromTransactionCheck", &h.FromTransactionCheck, false)
	f.optText("msgId", &h.MsgID)
	f.optText("transactionId", &h.TransactionID)
	f.optText("topic", &h.Topic)
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
func (h *CheckTransactionStateRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *CheckTransactionStateRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *CheckTransactionStateRequest) fields(f *headerFields) {
	f.optText("topic", &h.Topic)
	f.int64("tranStateTableOffset", &h.TranStateTableOffset)
	f.int64("commitLogOffset", &h.CommitLogOffset)
	f.optText("msgId", &h.MsgID)
	f.optText("transactionId", &h.TransactionID)
	f.optText("offsetMsgId", &h.OffsetMsgID)
	f.optText("bname", &h.BrokerName)
}

// ResumeCheckHalfMessageRequest is the header of RESUME_CHECK_HALF_MESSAGE (323).
type ResumeCheckHalfMessageRequest struct {
	Topic string
	MsgID string // an offset id
}

// Decode reads the header.
func (h *ResumeCheckHalfMessageRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *ResumeCheckHalfMessageRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *ResumeCheckHalfMessageRequest) fields(f *headerFields) {
	f.optText("topic", &h.Topic)
	f.optText("msgId", &h.MsgID)
}

// RecallMessageRequest is the header of RECALL_MESSAGE (370).
type RecallMessageRequest struct {
	ProducerGroup string
	Topic         string
	RecallHandle  string
}

// Decode reads the header.
func (h *RecallMessageRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *RecallMessageRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *RecallMessageRequest) fields(f *headerFields) {
	f.optText("producerGroup", &h.ProducerGroup)
	f.text("topic", &h.Topic)
	f.anyText("recallHandle", &h.RecallHandle)
}

// RecallMessageResponse answers RECALL_MESSAGE.
type RecallMessageResponse struct {
	MsgID string
}

// Decode reads the header.
func (h *RecallMessageResponse) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *RecallMessageResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *RecallMessageResponse) fields(f *headerFields) {
	f.text("msgId", &h.MsgID)
}
