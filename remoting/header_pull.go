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
	for i, name := range pullRequired {
		if seen&(1<<i) == 0 {
			return nullField(name)
		}
	}
	return nil
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

// Encode writes the header.
func (h *PullMessageResponse) Encode(w *ExtWriter) {
	w.Int("groupSysFlag", int64(h.GroupSysFlag))
	w.Int("maxOffset", h.MaxOffset)
	w.Int("minOffset", h.MinOffset)
	w.Int("nextBeginOffset", h.NextBeginOffset)
	w.Int("suggestWhichBrokerId", h.SuggestWhichBrokerID)
	w.Int("topicSysFlag", int64(h.TopicSysFlag))
}
