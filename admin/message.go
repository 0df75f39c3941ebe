package admin

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/wheelmq/wheelmq/message"
)

// Message is a stored message.
type Message struct {
	Topic           string            `json:"topic"`
	QueueID         int32             `json:"queueId"`
	QueueOffset     int64             `json:"queueOffset"`
	CommitLogOffset int64             `json:"commitLogOffset"`
	Broker          string            `json:"broker,omitempty"`
	MsgID           string            `json:"msgId"`       // the client's (UNIQ_KEY), else OffsetMsgID
	OffsetMsgID     string            `json:"offsetMsgId"` // address and log offset
	Tags            string            `json:"tags,omitempty"`
	Keys            string            `json:"keys,omitempty"`
	BornMs          int64             `json:"bornMs"`  // the producer's clock, ms since the epoch
	StoreMs         int64             `json:"storeMs"` // the broker's clock
	BornHost        string            `json:"bornHost"`
	ReconsumeTimes  int32             `json:"reconsumeTimes"`
	Properties      map[string]string `json:"properties"`
	Compressed      string            `json:"compressed,omitempty"` // LZ4 or ZSTD: Body is as stored
	Body            []byte            `json:"body"`                 // base64 in JSON

	sysFlag int32
}

// compressions are the kinds of compressed bodies by their bits.
var compressions = map[int32]string{0: "ZLIB", 0x100: "LZ4", 0x200: "ZSTD", 0x300: "ZLIB"}

// maxBody bounds an inflated body, bytes.
const maxBody = 64 << 20

func messageOf(v *message.View, broker string) Message {
	m := Message{
		Topic: string(v.Topic), QueueID: v.QueueID, QueueOffset: v.QueueOffset, CommitLogOffset: v.CommitLogOffset, Broker: broker,
		OffsetMsgID: string(message.AppendOffsetID(nil, v.StoreHost, v.CommitLogOffset)),
		BornMs:      v.BornTimestamp, StoreMs: v.StoreTimestamp, BornHost: v.BornHost.String(), ReconsumeTimes: v.ReconsumeTimes,
		Properties: make(map[string]string), Body: bytes.Clone(v.Body), sysFlag: v.SysFlag,
	}
	message.PropertyEach(v.Properties, func(name, value []byte) { m.Properties[string(name)] = string(value) })
	m.Tags, m.Keys, m.MsgID = m.Properties[message.PropertyTags], m.Properties[message.PropertyKeys], m.Properties[message.PropertyUniqKey]
	if m.MsgID == "" {
		m.MsgID = m.OffsetMsgID
	}
	if v.SysFlag&message.SysFlagCompressed != 0 {
		m.inflate()
	}
	return m
}

// inflate makes the body readable. A body that is not what it says stays as it is.
func (m *Message) inflate() {
	kind := compressions[m.sysFlag&message.SysFlagCompressionMask]
	if kind == "ZLIB" {
		if r, err := zlib.NewReader(bytes.NewReader(m.Body)); err == nil {
			if body, err := io.ReadAll(io.LimitReader(r, maxBody)); err == nil {
				m.Body = body
				return
			}
		}
	}
	m.Compressed = kind
}

// messagesOf cuts the records that a body holds one behind the other.
func messagesOf(body []byte, broker string) (list []Message, err error) {
	for len(body) > 0 {
		v, err := message.Parse(body)
		if err != nil {
			return nil, fmt.Errorf("admin: a message of %s: %w", broker, err)
		}
		list = append(list, messageOf(&v, broker))
		body = body[int(binary.BigEndian.Uint32(body)):]
	}
	return list, nil
}
