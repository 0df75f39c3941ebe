package remoting

// PullMessageRequest is the header of PULL_MESSAGE (11). Text fields alias the frame.
type PullMessageRequest struct {
	ConsumerGroup        []byte
	Topic                []byte
	QueueID              int32
	QueueOffset          int64
	MaxMsgNums           int32
	SysFlag              int32
	CommitOffset         int64
	SuspendTimeoutMillis int64
	SubVersion           int64
	Subscription         []byte
	ExpressionType       []byte // nil means TAG
	MaxMsgBytes          int32
}

// pullRequired are the names of the required fields by their bit.
var pullRequired = [...]string{
	"consumerGroup", "topic", "queueId", "queueOffset", "maxMsgNums", "sysFlag", "commitOffset", "suspendTimeoutMillis", "subVersion",
}

// Decode reads the header in one pass.
func (h *PullMessageRequest) Decode(fields *Fields) error {
	*h = PullMessageRequest{}
	var failed *Error
	seen := 0
	for i := range fields.list {
		f := &fields.list[i]
		switch string(f.Key) {
		case "consumerGroup":
			h.ConsumerGroup, seen = f.Value, seen|1<<0
		case "topic":
			h.Topic, seen = f.Value, seen|1<<1
		case "queueId":
			h.QueueID, seen = hotInt32(f, &failed), seen|1<<2
		case "queueOffset":
			h.QueueOffset, seen = hotInt(f, &failed), seen|1<<3
		case "maxMsgNums":
			h.MaxMsgNums, seen = hotInt32(f, &failed), seen|1<<4
		case "sysFlag":
			h.SysFlag, seen = hotInt32(f, &failed), seen|1<<5
		case "commitOffset":
			h.CommitOffset, seen = hotInt(f, &failed), seen|1<<6
		case "suspendTimeoutMillis":
			h.SuspendTimeoutMillis, seen = hotInt(f, &failed), seen|1<<7
		case "subVersion":
			h.SubVersion, seen = hotInt(f, &failed), seen|1<<8
		case "subscription":
			h.Subscription = f.Value
		case "expressionType":
			h.ExpressionType = f.Value
		case "maxMsgBytes":
			h.MaxMsgBytes = hotInt32(f, &failed)
		}
	}
	if failed != nil {
		return failed
	}
	return firstMissing(seen, 1<<len(pullRequired)-1, pullRequired[:])
}

// Encode writes the header.
func (h *PullMessageRequest) Encode(w *ExtWriter) {
	w.Bytes("consumerGroup", h.ConsumerGroup)
	w.Bytes("topic", h.Topic)
	w.Int("queueId", int64(h.QueueID))
	w.Int("queueOffset", h.QueueOffset)
	w.Int("maxMsgNums", int64(h.MaxMsgNums))
	w.Int("sysFlag", int64(h.SysFlag))
	w.Int("commitOffset", h.CommitOffset)
	w.Int("suspendTimeoutMillis", h.SuspendTimeoutMillis)
	w.Int("subVersion", h.SubVersion)
	w.optBytes("subscription", h.Subscription)
	w.optBytes("expressionType", h.ExpressionType)
	w.optInt("maxMsgBytes", int64(h.MaxMsgBytes), 0)
}

// PullMessageResponse is the header of every pull's result.
type PullMessageResponse struct {
	SuggestWhichBrokerID int64
	NextBeginOffset      int64
	MinOffset            int64
	MaxOffset            int64
	TopicSysFlag         int32
	GroupSysFlag         int32
}

// Decode reads the header.
func (h *PullMessageResponse) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *PullMessageResponse) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *PullMessageResponse) fields(f *headerFields) {
	f.int32Or("groupSysFlag", &h.GroupSysFlag, 0)
	f.int64("maxOffset", &h.MaxOffset)
	f.int64("minOffset", &h.MinOffset)
	f.int64("nextBeginOffset", &h.NextBeginOffset)
	f.int64("suggestWhichBrokerId", &h.SuggestWhichBrokerID)
	f.int32Or("topicSysFlag", &h.TopicSysFlag, 0)
}
