package remoting

// QueryConsumerOffsetRequest is the header of QUERY_CONSUMER_OFFSET (14). Text fields
// alias the frame.
type QueryConsumerOffsetRequest struct {
	ConsumerGroup     []byte
	Topic             []byte
	QueueID           int32
	SetZeroIfNotFound bool // true when absent
}

// Decode reads the header.
func (h *QueryConsumerOffsetRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = QueryConsumerOffsetRequest{
		ConsumerGroup: r.bytes("consumerGroup"), Topic: r.bytes("topic"), QueueID: r.int32("queueId"),
		SetZeroIfNotFound: r.optBool("setZeroIfNotFound", true),
	}
	return r.err()
}

// Encode writes the header.
func (h *QueryConsumerOffsetRequest) Encode(w *ExtWriter) {
	w.Bytes("consumerGroup", h.ConsumerGroup)
	w.Bytes("topic", h.Topic)
	w.Int("queueId", int64(h.QueueID))
	w.Bool("setZeroIfNotFound", h.SetZeroIfNotFound)
}

// QueryConsumerOffsetResponse answers QUERY_CONSUMER_OFFSET.
type QueryConsumerOffsetResponse struct{ Offset int64 }

// Encode writes the header.
func (h *QueryConsumerOffsetResponse) Encode(w *ExtWriter) { w.Int("offset", h.Offset) }

// Decode reads the header.
func (h *QueryConsumerOffsetResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Offset = r.int64("offset")
	return r.err()
}

// UpdateConsumerOffsetRequest is the header of UPDATE_CONSUMER_OFFSET (15). Text fields
// alias the frame.
type UpdateConsumerOffsetRequest struct {
	ConsumerGroup []byte
	Topic         []byte
	QueueID       int32
	CommitOffset  int64
}

// Decode reads the header.
func (h *UpdateConsumerOffsetRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	*h = UpdateConsumerOffsetRequest{
		ConsumerGroup: r.bytes("consumerGroup"), Topic: r.bytes("topic"), QueueID: r.int32("queueId"),
		CommitOffset: r.int64("commitOffset"),
	}
	return r.err()
}

// Encode writes the header.
func (h *UpdateConsumerOffsetRequest) Encode(w *ExtWriter) {
	w.Bytes("consumerGroup", h.ConsumerGroup)
	w.Bytes("topic", h.Topic)
	w.Int("queueId", int64(h.QueueID))
	w.Int("commitOffset", h.CommitOffset)
}

// queueRequest is what the requests about one queue have in common. Topic aliases the frame.
type queueRequest struct {
	Topic   []byte
	QueueID int32
}

func (h *queueRequest) decode(r *headerReader) {
	h.Topic, h.QueueID = r.bytes("topic"), r.int32("queueId")
}

// GetMaxOffsetRequest is the header of GET_MAX_OFFSET (30).
type GetMaxOffsetRequest struct{ queueRequest }

// Decode reads the header.
func (h *GetMaxOffsetRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.decode(&r)
	return r.err()
}

// Encode writes the header.
func (h *GetMaxOffsetRequest) Encode(w *ExtWriter) {
	w.Bytes("topic", h.Topic)
	w.Int("queueId", int64(h.QueueID))
}

// GetMaxOffsetResponse answers GET_MAX_OFFSET.
type GetMaxOffsetResponse struct{ Offset int64 }

// Encode writes the header.
func (h *GetMaxOffsetResponse) Encode(w *ExtWriter) { w.Int("offset", h.Offset) }

// Decode reads the header.
func (h *GetMaxOffsetResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Offset = r.int64("offset")
	return r.err()
}

// GetMinOffsetRequest is the header of GET_MIN_OFFSET (31).
type GetMinOffsetRequest struct{ queueRequest }

// Decode reads the header.
func (h *GetMinOffsetRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.decode(&r)
	return r.err()
}

// Encode writes the header.
func (h *GetMinOffsetRequest) Encode(w *ExtWriter) {
	w.Bytes("topic", h.Topic)
	w.Int("queueId", int64(h.QueueID))
}

// GetMinOffsetResponse answers GET_MIN_OFFSET.
type GetMinOffsetResponse struct{ Offset int64 }

// Encode writes the header.
func (h *GetMinOffsetResponse) Encode(w *ExtWriter) { w.Int("offset", h.Offset) }

// Decode reads the header.
func (h *GetMinOffsetResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Offset = r.int64("offset")
	return r.err()
}

// SearchOffsetRequest is the header of SEARCH_OFFSET_BY_TIMESTAMP (29).
type SearchOffsetRequest struct {
	queueRequest
	Timestamp    int64  // ms, store time
	BoundaryType string // "lower" (also when absent) or "upper"
}

// Decode reads the header.
func (h *SearchOffsetRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.decode(&r)
	h.Timestamp, h.BoundaryType = r.int64("timestamp"), r.optText("boundaryType")
	return r.err()
}

// Encode writes the header.
func (h *SearchOffsetRequest) Encode(w *ExtWriter) {
	w.Bytes("topic", h.Topic)
	w.Int("queueId", int64(h.QueueID))
	w.Int("timestamp", h.Timestamp)
	w.optString("boundaryType", h.BoundaryType)
}

// SearchOffsetResponse answers SEARCH_OFFSET_BY_TIMESTAMP.
type SearchOffsetResponse struct{ Offset int64 }

// Encode writes the header.
func (h *SearchOffsetResponse) Encode(w *ExtWriter) { w.Int("offset", h.Offset) }

// Decode reads the header.
func (h *SearchOffsetResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Offset = r.int64("offset")
	return r.err()
}

// GetEarliestMsgStoretimeRequest is the header of GET_EARLIEST_MSG_STORETIME (32).
type GetEarliestMsgStoretimeRequest struct{ queueRequest }

// Decode reads the header.
func (h *GetEarliestMsgStoretimeRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.decode(&r)
	return r.err()
}

// Encode writes the header.
func (h *GetEarliestMsgStoretimeRequest) Encode(w *ExtWriter) {
	w.Bytes("topic", h.Topic)
	w.Int("queueId", int64(h.QueueID))
}

// GetEarliestMsgStoretimeResponse answers GET_EARLIEST_MSG_STORETIME; -1 means none.
type GetEarliestMsgStoretimeResponse struct{ Timestamp int64 }

// Encode writes the header.
func (h *GetEarliestMsgStoretimeResponse) Encode(w *ExtWriter) { w.Int("timestamp", h.Timestamp) }

// Decode reads the header.
func (h *GetEarliestMsgStoretimeResponse) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Timestamp = r.int64("timestamp")
	return r.err()
}

// bytes reads a required field that aliases the frame.
func (r *headerReader) bytes(name string) []byte {
	v, ok := r.fields.Get(name)
	if !ok {
		r.fail(nullField(name))
	}
	return v
}
