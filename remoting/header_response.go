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
func (h *SendMessageResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = SendMessageResponse{
		MsgID:         r.text("msgId"),
		QueueID:       r.int32("queueId"),
		QueueOffset:   r.int64("queueOffset"),
		TransactionID: r.optText("transactionId"),
		BatchUniqID:   r.optText("batchUniqId"),
		RecallHandle:  r.optText("recallHandle"),
	}
	return r.err()
}

// Encode writes the header.
func (h *SendMessageResponse) Encode(w *ExtWriter) {
	w.String("msgId", h.MsgID)
	w.Int("queueId", int64(h.QueueID))
	w.Int("queueOffset", h.QueueOffset)
	w.optString("transactionId", h.TransactionID)
	w.optString("batchUniqId", h.BatchUniqID)
	w.optString("recallHandle", h.RecallHandle)
}

// QueryMessageResponse answers QUERY_MESSAGE.
type QueryMessageResponse struct {
	IndexLastUpdateTimestamp int64 // ms
	IndexLastUpdatePhyoffset int64
}

// Decode reads the header.
func (h *QueryMessageResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = QueryMessageResponse{
		IndexLastUpdateTimestamp: r.int64("indexLastUpdateTimestamp"),
		IndexLastUpdatePhyoffset: r.int64("indexLastUpdatePhyoffset"),
	}
	return r.err()
}

// Encode writes the header.
func (h *QueryMessageResponse) Encode(w *ExtWriter) {
	w.Int("indexLastUpdateTimestamp", h.IndexLastUpdateTimestamp)
	w.Int("indexLastUpdatePhyoffset", h.IndexLastUpdatePhyoffset)
}

// RegisterBrokerResponse answers REGISTER_BROKER.
type RegisterBrokerResponse struct {
	HaServerAddr string // the master's
	MasterAddr   string
}

// Decode reads the header.
func (h *RegisterBrokerResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = RegisterBrokerResponse{
		HaServerAddr: r.optText("haServerAddr"),
		MasterAddr:   r.optText("masterAddr"),
	}
	return r.err()
}

// Encode writes the header.
func (h *RegisterBrokerResponse) Encode(w *ExtWriter) {
	w.optString("haServerAddr", h.HaServerAddr)
	w.optString("masterAddr", h.MasterAddr)
}

// QueryDataVersionResponse answers QUERY_DATA_VERSION.
type QueryDataVersionResponse struct {
	Changed bool
}

// Decode reads the header.
func (h *QueryDataVersionResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = QueryDataVersionResponse{
		Changed: r.optBool("changed", false),
	}
	return r.err()
}

// Encode writes the header.
func (h *QueryDataVersionResponse) Encode(w *ExtWriter) {
	w.Bool("changed", h.Changed)
}

// GetKVConfigResponse answers GET_KV_CONFIG.
type GetKVConfigResponse struct {
	Value string
}

// Decode reads the header.
func (h *GetKVConfigResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = GetKVConfigResponse{
		Value: r.optText("value"),
	}
	return r.err()
}

// Encode writes the header.
func (h *GetKVConfigResponse) Encode(w *ExtWriter) {
	w.optString("value", h.Value)
}
