package processor

import "strconv"

// appendStart adds where a queue's batch begins to startOffsetInfo.
func appendStart(dst []byte, retry byte, queueID int32, offset int64) []byte {
	dst = appendQueue(dst, retry)
	dst = strconv.AppendInt(dst, int64(queueID), 10)
	return strconv.AppendInt(append(dst, ' '), offset, 10)
}

// appendOffsets adds the offsets of a queue's messages to msgOffsetInfo.
func appendOffsets(dst []byte, retry byte, queueID int32, offsets []int64) []byte {
	dst = appendQueue(dst, retry)
	dst = strconv.AppendInt(dst, int64(queueID), 10)
	separator := byte(' ')
	for _, offset := range offsets {
		dst = strconv.AppendInt(append(dst, separator), offset, 10)
		separator = ','
	}
	return dst
}

// appendTimes adds how often messages were handed out before to orderCountInfo: those that were, and
// the least of the queue, for clients that know no other.
func appendTimes(dst []byte, retry byte, queueID int32, offsets []int64, times []int32) []byte {
	least := times[0]
	for i, offset := range offsets {
		least = min(least, times[i])
		if times[i] == 0 {
			continue
		}
		dst = append(appendQueue(dst, retry), "qo"...)
		dst = strconv.AppendInt(dst, int64(queueID), 10)
		dst = strconv.AppendInt(append(dst, '%'), offset, 10)
		dst = strconv.AppendInt(append(dst, ' '), int64(times[i]), 10)
	}
	dst = strconv.AppendInt(appendQueue(dst, retry), int64(queueID), 10)
	return strconv.AppendInt(append(dst, ' '), int64(least), 10)
}

func appendQueue(dst []byte, retry byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, ';')
	}
	return append(dst, retry, ' ')
}
