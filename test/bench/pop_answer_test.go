package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/wheelmq/wheelmq/test/wire"
)

// popped is what the header of a pop's answer tells.
type popped struct {
	popTime, invisible, revive string
	queues                     []poppedQueue
}

// poppedQueue are the messages of one queue. Retry is 0 for the topic itself.
type poppedQueue struct {
	retry, id, start string
	offsets          []int64
}

var errPopped = errors.New("the answer to a pop lacks what it needs")

func parsePopped(frame []byte) (*popped, error) {
	a := new(popped)
	starts := make(map[string]string) // by retry flag and queue
	for name, to := range map[string]*string{"popTime": &a.popTime, "invisibleTime": &a.invisible, "reviveQid": &a.revive} {
		var ok bool
		if *to, ok = field(frame, `"`+name+`":"`); !ok {
			return nil, fmt.Errorf("%w: %s", errPopped, name)
		}
	}
	info, _ := field(frame, `"startOffsetInfo":"`)
	for one := range strings.SplitSeq(info, ";") {
		key, start, _ := cutLast(one)
		starts[key] = start
	}
	info, _ = field(frame, `"msgOffsetInfo":"`)
	for one := range strings.SplitSeq(info, ";") {
		key, list, _ := cutLast(one)
		retry, id, _ := strings.Cut(key, " ")
		q := poppedQueue{retry: retry, id: id, start: starts[key]}
		for text := range strings.SplitSeq(list, ",") {
			offset, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%w: offsets %q", errPopped, info)
			}
			q.offsets = append(q.offsets, offset)
		}
		a.queues = append(a.queues, q)
	}
	return a, nil
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// ack is the request that acknowledges one message.
func (a *popped) ack(topic string, q poppedQueue, offset int64) prepared {
	at := strconv.FormatInt(offset, 10)
	return prepare(wire.AckMessage, map[string]string{
		"consumerGroup": popGroup, "topic": topic, "queueId": q.id, "offset": at,
		"extraInfo": strings.Join([]string{q.start, a.popTime, a.invisible, a.revive, q.retry, "broker-a", q.id, at}, " "),
	}, nil)
}

// batchAck is the request that acknowledges everything.
func (a *popped) batchAck(topic string) prepared {
	type entry struct {
		Group     string `json:"c"`
		Topic     string `json:"t"`
		Retry     string `json:"r"`
		Start     int64  `json:"so"`
		Queue     int    `json:"q"`
		Revive    int    `json:"rq"`
		PopTime   int64  `json:"pt"`
		Invisible int64  `json:"it"`
		// Bits are the bytes of a Java BitSet: an offset's distance from Start.
		Bits []byte `json:"b"`
	}
	var entries []entry
	for _, q := range a.queues {
		e := entry{Group: popGroup, Topic: topic, Retry: q.retry, Start: number(q.start), Queue: int(number(q.id)), Revive: int(number(a.revive)), PopTime: number(a.popTime), Invisible: number(a.invisible)}
		for _, offset := range q.offsets {
			bit := int(offset - e.Start)
			for len(e.Bits) <= bit/8 {
				e.Bits = append(e.Bits, 0)
			}
			e.Bits[bit/8] |= 1 << (bit % 8)
		}
		entries = append(entries, e)
	}
	body, err := json.Marshal(map[string]any{"brokerName": "broker-a", "acks": entries})
	if err != nil {
		panic(err) // numbers, texts and bytes
	}
	return prepare(wire.BatchAckMessage, nil, body)
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
