package remoting

// SendMessageRequest is the header of SEND_MESSAGE (10), SEND_MESSAGE_V2 (310) and
// SEND_BATCH_MESSAGE (320). Text fields alias the frame.
type SendMessageRequest struct {
	ProducerGroup         []byte
	Topic                 []byte
	DefaultTopic          []byte
	DefaultTopicQueueNums int32 // 0 when the client left it out
	QueueID               int32
	SysFlag               int32
	BornTimestamp         int64 // ms
	Flag                  int32
	Properties            []byte // name 0x01 value 0x02 …
	ReconsumeTimes        int32
	UnitMode              bool
	MaxReconsumeTimes     int32 // -1 when absent
	Batch                 bool
}

// sendField numbers the fields of a send header under either name.
type sendField uint8

const (
	sendProducerGroup sendField = 'a' + iota
	sendTopic
	sendDefaultTopic
	sendDefaultTopicQueueNums
	sendQueueID
	sendSysFlag
	sendBornTimestamp
	sendFlag
	sendProperties
	sendReconsumeTimes
	sendUnitMode
	sendMaxReconsumeTimes
	sendBatch
)

// sendRequired are the fields without which the real server fails; a missing
// defaultTopicQueueNums has a default here.
const sendRequired = 1<<(sendProducerGroup-'a') | 1<<(sendTopic-'a') | 1<<(sendQueueID-'a') | 1<<(sendSysFlag-'a') |
	1<<(sendBornTimestamp-'a') | 1<<(sendFlag-'a')

var sendLongNames = [...]string{
	"producerGroup", "topic", "defaultTopic", "defaultTopicQueueNums", "queueId", "sysFlag", "bornTimestamp", "flag",
	"properties", "reconsumeTimes", "unitMode", "maxReconsumeTimes", "batch",
}

// Decode reads a header with either the long names of code 10 or the letters of 310.
func (h *SendMessageRequest) Decode(fields *Fields) error {
	*h = SendMessageRequest{MaxReconsumeTimes: -1}
	var failed *Error
	seen := 0
	for i := range fields.list {
		f := &fields.list[i]
		name := sendFieldOf(f.Key)
		if name == 0 {
			continue
		}
		seen |= 1 << (name - 'a')
		h.set(name, f, &failed)
	}
	if failed != nil {
		return failed
	}
	return firstMissing(seen, sendRequired, sendLongNames[:])
}

func sendFieldOf(key []byte) sendField {
	if len(key) == 1 {
		if c := sendField(key[0]); c >= sendProducerGroup && c <= sendBatch {
			return c
		}
		return 0
	}
	for i, name := range sendLongNames {
		if string(key) == name {
			return sendField('a' + i)
		}
	}
	return 0
}

func (h *SendMessageRequest) set(name sendField, f *Field, failed **Error) {
	switch name {
	case sendProducerGroup:
		h.ProducerGroup = f.Value
	case sendTopic:
		h.Topic = f.Value
	case sendDefaultTopic:
		h.DefaultTopic = f.Value
	case sendDefaultTopicQueueNums:
		h.DefaultTopicQueueNums = hotInt32(f, failed)
	case sendQueueID:
		h.QueueID = hotInt32(f, failed)
	case sendSysFlag:
		h.SysFlag = hotInt32(f, failed)
	case sendBornTimestamp:
		h.BornTimestamp = hotInt(f, failed)
	case sendFlag:
		h.Flag = hotInt32(f, failed)
	case sendProperties:
		h.Properties = f.Value
	case sendReconsumeTimes:
		h.ReconsumeTimes = hotInt32(f, failed)
	case sendUnitMode:
		h.UnitMode = parseBool(f.Value)
	case sendMaxReconsumeTimes:
		h.MaxReconsumeTimes = hotInt32(f, failed)
	case sendBatch:
		h.Batch = parseBool(f.Value)
	}
}

// Encode writes the header with the long names of code 10.
func (h *SendMessageRequest) Encode(w *ExtWriter) { h.encode(w, sendLongNames[:]) }

// EncodeV2 writes the header with the letters of codes 310 and 320.
func (h *SendMessageRequest) EncodeV2(w *ExtWriter) { h.encode(w, sendLetters[:]) }

var sendLetters = [...]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"}

func (h *SendMessageRequest) encode(w *ExtWriter, name []string) {
	w.Bytes(name[sendProducerGroup-'a'], h.ProducerGroup)
	w.Bytes(name[sendTopic-'a'], h.Topic)
	w.optBytes(name[sendDefaultTopic-'a'], h.DefaultTopic)
	w.Int(name[sendDefaultTopicQueueNums-'a'], int64(h.DefaultTopicQueueNums))
	w.Int(name[sendQueueID-'a'], int64(h.QueueID))
	w.Int(name[sendSysFlag-'a'], int64(h.SysFlag))
	w.Int(name[sendBornTimestamp-'a'], h.BornTimestamp)
	w.Int(name[sendFlag-'a'], int64(h.Flag))
	w.optBytes(name[sendProperties-'a'], h.Properties)
	w.Int(name[sendReconsumeTimes-'a'], int64(h.ReconsumeTimes))
	w.Bool(name[sendUnitMode-'a'], h.UnitMode)
	w.optInt(name[sendMaxReconsumeTimes-'a'], int64(h.MaxReconsumeTimes), -1)
	w.Bool(name[sendBatch-'a'], h.Batch)
}

// ConsumerSendMsgBackRequest is the header of CONSUMER_SEND_MSG_BACK (36).
type ConsumerSendMsgBackRequest struct {
	Offset            int64 // CommitLog offset of the message
	Group             string
	DelayLevel        int32
	OriginMsgID       string
	OriginTopic       string
	UnitMode          bool
	MaxReconsumeTimes int32 // -1 when absent
}

// Decode reads the header.
func (h *ConsumerSendMsgBackRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *ConsumerSendMsgBackRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *ConsumerSendMsgBackRequest) fields(f *headerFields) {
	f.int64("offset", &h.Offset)
	f.text("group", &h.Group)
	f.int32("delayLevel", &h.DelayLevel)
	f.optText("originMsgId", &h.OriginMsgID)
	f.optText("originTopic", &h.OriginTopic)
	f.boolOr("unitMode", &h.UnitMode, false)
	f.optInt32("maxReconsumeTimes", &h.MaxReconsumeTimes, -1)
}
