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
func (h *QueryConsumerOffsetRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *QueryConsumerOffsetRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *QueryConsumerOffsetRequest) fields(f *headerFields) {
	f.bytes("consumerGroup", &h.ConsumerGroup)
	f.bytes("topic", &h.Topic)
	f.int32("queueId", &h.QueueID)
	f.boolOr("setZeroIfNotFound", &h.SetZeroIfNotFound, true)
}

// QueryConsumerOffsetResponse answers QUERY_CONSUMER_OFFSET.
type QueryConsumerOffsetResponse = OffsetResponse

// UpdateConsumerOffsetRequest is the header of UPDATE_CONSUMER_OFFSET (15). Text fields
// alias the frame.
type UpdateConsumerOffsetRequest struct {
	ConsumerGroup []byte
	Topic         []byte
	QueueID       int32
	CommitOffset  int64
}

// Decode reads the header.
func (h *UpdateConsumerOffsetRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *UpdateConsumerOffsetRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *UpdateConsumerOffsetRequest) fields(f *headerFields) {
	f.bytes("consumerGroup", &h.ConsumerGroup)
	f.bytes("topic", &h.Topic)
	f.int32("queueId", &h.QueueID)
	f.int64("commitOffset", &h.CommitOffset)
}

// QueueRequest is the header of the requests that name one queue and nothing else: GET_MAX_OFFSET (30),
// GET_MIN_OFFSET (31), GET_EARLIEST_MSG_STORETIME (32). Topic aliases the frame.
type QueueRequest struct {
	Topic   []byte
	QueueID int32
}

// Decode reads the header.
func (h *QueueRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *QueueRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *QueueRequest) fields(f *headerFields) {
	f.bytes("topic", &h.Topic)
	f.int32("queueId", &h.QueueID)
}

// OffsetResponse answers the requests for one offset, in units of the queue: GET_MAX_OFFSET,
// GET_MIN_OFFSET, SEARCH_OFFSET_BY_TIMESTAMP, QUERY_CONSUMER_OFFSET.
type OffsetResponse struct{ Offset int64 }

// Decode reads the header.
func (h *OffsetResponse) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *OffsetResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *OffsetResponse) fields(f *headerFields) {
	f.int64("offset", &h.Offset)
}

// GetMaxOffsetRequest is the header of GET_MAX_OFFSET (30).
type GetMaxOffsetRequest = QueueRequest

// GetMaxOffsetResponse answers GET_MAX_OFFSET.
type GetMaxOffsetResponse = OffsetResponse

// GetMinOffsetRequest is the header of GET_MIN_OFFSET (31).
type GetMinOffsetRequest = QueueRequest

// GetMinOffsetResponse answers GET_MIN_OFFSET.
type GetMinOffsetResponse = OffsetResponse

// SearchOffsetRequest is the header of SEARCH_OFFSET_BY_TIMESTAMP (29).
type SearchOffsetRequest struct {
	QueueRequest
	Timestamp    int64  // ms, store time
	BoundaryType string // "lower" (also when absent) or "upper"
}

// Decode reads the header.
func (h *SearchOffsetRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *SearchOffsetRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *SearchOffsetRequest) fields(f *headerFields) {
	h.QueueRequest.fields(f)
	f.int64("timestamp", &h.Timestamp)
	f.optText("boundaryType", &h.BoundaryType)
}

// SearchOffsetResponse answers SEARCH_OFFSET_BY_TIMESTAMP.
type SearchOffsetResponse = OffsetResponse

// GetEarliestMsgStoretimeRequest is the header of GET_EARLIEST_MSG_STORETIME (32).
type GetEarliestMsgStoretimeRequest = QueueRequest

// GetEarliestMsgStoretimeResponse answers GET_EARLIEST_MSG_STORETIME; -1 means none.
type GetEarliestMsgStoretimeResponse struct{ Timestamp int64 }

// Decode reads the header.
func (h *GetEarliestMsgStoretimeResponse) Decode(fields *Fields) error {
	return decodeHeader(fields, h)
}

// Encode writes the header.
func (h *GetEarliestMsgStoretimeResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetEarliestMsgStoretimeResponse) fields(f *headerFields) {
	f.int64("timestamp", &h.Timestamp)
}
