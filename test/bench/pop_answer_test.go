package bench

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/wheelmq/wheelmq/test/wire"
)

// popped is what the header of a pop's answer tells. It is read again and again, and what it has lies in the frame.
type popped struct {
	popTime, invisible, revive []byte
	queues                     []poppedQueue
	bits                       []byte
}

// poppedQueue are the messages of one queue. Retry is 0 for the topic itself.
type poppedQueue struct {
	retry, id, start []byte
	offsets          []int64
}

var errPopped = errors.New("the answer to a pop lacks what it needs")

// value is a field of a JSON header.
func value(frame []byte, name string) []byte {
	at := bytes.Index(frame, []byte(name))
	if at < 0 {
		return nil
	}
	rest := frame[at+len(name):]
	return rest[:max(0, bytes.IndexByte(rest, '"'))]
}

func (a *popped) parse(frame []byte) error {
	frame = frame[:8+binary.BigEndian.Uint32(frame[4:])&0xFFFFFF]
	a.popTime, a.invisible, a.revive = value(frame, `"popTime":"`), value(frame, `"invisibleTime":"`), value(frame, `"reviveQid":"`)
	if len(a.popTime) == 0 || len(a.invisible) == 0 || len(a.revive) == 0 {
		return errPopped
	}
	starts, lists := value(frame, `"startOffsetInfo":"`), value(frame, `"msgOffsetInfo":"`)
	a.queues = a.queues[:0]
	for len(lists) > 0 {
		var start, list []byte
		start, starts, _ = bytes.Cut(starts, []byte(";"))
		list, lists, _ = bytes.Cut(lists, []byte(";"))
		if err := a.add(start, list); err != nil {
			return err
		}
	}
	return nil
}

// add adds a queue: where its batch begins, and its offsets.
func (a *popped) add(start, list []byte) error {
	if cap(a.queues) == len(a.queues) {
		a.queues = append(a.queues, poppedQueue{})
	} else {
		a.queues = a.queues[:len(a.queues)+1]
	}
	q := &a.queues[len(a.queues)-1]
	startAt, at := bytes.LastIndexByte(start, ' '), bytes.LastIndexByte(list, ' ')
	if at < 0 || startAt != at || !bytes.Equal(start[:at], list[:at]) {
		return fmt.Errorf("%w: %q and %q", errPopped, start, list)
	}
	q.retry, q.id, _ = bytes.Cut(list[:at], []byte(" "))
	q.start, q.offsets = start[at+1:], q.offsets[:0]
	offset := int64(0)
	for _, c := range list[at+1:] {
		if c == ',' {
			q.offsets, offset = append(q.offsets, offset), 0
			continue
		}
		offset = 10*offset + int64(c-'0')
	}
	q.offsets = append(q.offsets, offset)
	return nil
}

// request begins a frame; seal ends its header, and the body follows.
func request(dst []byte, code, n int) []byte {
	dst = strconv.AppendInt(append(append(dst, 0, 0, 0, 0, 0, 0, 0, 0), `{"code":`...), int64(code), 10)
	dst = strconv.AppendInt(append(dst, `,"flag":0,"language":"JAVA","opaque":`...), int64(n), 10)
	return append(dst, `,"serializeTypeCurrentRPC":"JSON","version":513,"extFields":{`...)
}

func seal(dst []byte, start int) []byte {
	dst = append(dst, "}}"...)
	binary.BigEndian.PutUint32(dst[start+4:], uint32(len(dst)-start-8))
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

// ack appends the request that acknowledges one message.
func (a *popped) ack(dst []byte, n int, topic string, q *poppedQueue, offset int64) []byte {
	start := len(dst)
	dst = append(append(request(dst, wire.AckMessage, n), `"consumerGroup":"`+popGroup+`","topic":"`...), topic...)
	dst = append(append(dst, `","queueId":"`...), q.id...)
	dst = strconv.AppendInt(append(dst, `","offset":"`...), offset, 10)
	dst = append(dst, `","extraInfo":"`...)
	for _, field := range [...][]byte{q.start, a.popTime, a.invisible, a.revive, q.retry} {
		dst = append(append(dst, field...), ' ')
	}
	dst = append(append(dst, "broker-a "...), q.id...)
	dst = append(strconv.AppendInt(append(dst, ' '), offset, 10), '"')
	return seal(dst, start)
}

// batchAck appends the request that acknowledges everything.
func (a *popped) batchAck(dst []byte, n int, topic string) []byte {
	start := len(dst)
	dst = seal(request(dst, wire.BatchAckMessage, n), start)
	body := len(dst)
	dst = append(dst, `{"brokerName":"broker-a","acks":[`...)
	for i := range a.queues {
		q := &a.queues[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, `{"c":"`+popGroup+`","t":"`...), topic...)
		for _, field := range [...]struct {
			name  string
			value []byte
		}{{`","r":"`, q.retry}, {`","so":`, q.start}, {`,"q":`, q.id}, {`,"rq":`, a.revive}, {`,"pt":`, a.popTime}, {`,"it":`, a.invisible}} {
			dst = append(append(dst, field.name...), field.value...)
		}
		dst = base64.StdEncoding.AppendEncode(append(dst, `,"b":"`...), a.bitsOf(q))
		dst = append(dst, `"}`...)
	}
	dst = append(dst, "]}"...)
	binary.BigEndian.PutUint32(dst[start:], binary.BigEndian.Uint32(dst[start:])+uint32(len(dst)-body))
	return dst
}

// bitsOf are the bytes of a Java BitSet: the offsets' distances from the beginning of their batch.
func (a *popped) bitsOf(q *poppedQueue) []byte {
	first := int64(0)
	for _, c := range q.start {
		first = 10*first + int64(c-'0')
	}
	a.bits = a.bits[:0]
	for _, offset := range q.offsets {
		bit := int(offset - first)
		for len(a.bits) <= bit/8 {
			a.bits = append(a.bits, 0)
		}
		a.bits[bit/8] |= 1 << (bit % 8)
	}
	return a.bits
}
