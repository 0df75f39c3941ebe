package remoting

// SendMessageResponse answers every send.
type SendMessageResponse struct {
	MsgID         string // offset id; of a batch several, comma between
	QueueID       int32
	QueueOffset   int64  // units
	TransactionID string // the unique key
	BatchUniqID   string
	RecallHandle  string
}

// Decode reads the header.
func (h *SendMessageResponse) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *SendMessageResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *SendMessageResponse) fields(f *headerFields) {
	f.text("msgId", &h.MsgID)
	f.int32("queueId", &h.QueueID)
	f.int64("queueOffset", &h.QueueOffset)
	f.optText("transactionId", &h.TransactionID)
	f.optText("batchUniqId", &h.BatchUniqID)
	f.optText("recallHandle", &h.RecallHandle)
}

// QueryMessageResponse answers QUERY_MESSAGE.
type QueryMessageResponse struct {
	IndexLastUpdateTimestamp int64 // ms
	IndexLastUpdatePhyoffset int64
}

// Decode reads the header.
func (h *QueryMessageResponse) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *QueryMessageResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *QueryMessageResponse) fields(f *headerFields) {
	f.int64("indexLastUpdateTimestamp", &h.IndexLastUpdateTimestamp)
	f.int64("indexLastUpdatePhyoffset", &h.IndexLastUpdatePhyoffset)
}

// RegisterBrokerResponse answers REGISTER_BROKER.
type RegisterBrokerResponse struct {
	HaServerAddr string // the master's
	MasterAddr   string
}

// Decode reads the header.
func (h *RegisterBrokerResponse) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *RegisterBrokerResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *RegisterBrokerResponse) fields(f *headerFields) {
	f.optText("haServerAddr", &h.HaServerAddr)
	f.optText("masterAddr", &h.MasterAddr)
}

// QueryDataVersionResponse answers QUERY_DATA_VERSION.
type QueryDataVersionResponse struct {
	Changed bool
}

// Decode reads the header.
func (h *QueryDataVersionResponse) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *QueryDataVersionResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *QueryDataVersionResponse) fields(f *headerFields) {
	f.boolOr("changed", &h.Changed, false)
}

// GetKVConfigResponse answers GET_KV_CONFIG.
type GetKVConfigResponse struct {
	Value string
}

// Decode reads the header.
func (h *GetKVConfigResponse) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *GetKVConfigResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetKVConfigResponse) fields(f *headerFields) {
	f.optText("value", &h.Value)
}
