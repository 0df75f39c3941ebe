package message

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// RecallHandle names an any-time delayed message for its recall, in the real broker's version 1.
type RecallHandle struct {
	Topic, Broker string
	// DeliverMs is TIMER_OUT_MS + 1, which rounds to TIMER_OUT_MS again; -1 when the handle's is no
	// number.
	DeliverMs int64
	UniqKey   string
}

const recallVersion = "v1"

// AppendRecallHandle appends the handle of a message.
func AppendRecallHandle(dst []byte, topic, broker string, deliverMs int64, uniqKey []byte) []byte {
	raw := make([]byte, 0, 160)
	raw = append(append(raw, recallVersion...), ' ')
	raw = append(append(raw, topic...), ' ')
	raw = append(append(raw, broker...), ' ')
	raw = append(strconv.AppendInt(raw, deliverMs, 10), ' ')
	raw = append(raw, uniqKey...)
	return base64.URLEncoding.AppendEncode(dst, raw)
}

// ParseRecallHandle reads a handle.
func ParseRecallHandle(text string) (h RecallHandle, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return RecallHandle{}, false
	}
	part := strings.Split(string(raw), " ")
	if len(part) != 5 || part[0] != recallVersion {
		return RecallHandle{}, false
	}
	h = RecallHandle{Topic: part[1], Broker: part[2], UniqKey: part[4]}
	if h.DeliverMs, err = strconv.ParseInt(part[3], 10, 64); err != nil {
		h.DeliverMs = -1
	}
	return h, true
}
