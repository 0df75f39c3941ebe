package processor

import (
	"bytes"

	"github.com/wheelmq/wheelmq/remoting"
)

// handle is what a client hands back of a message that was popped.
type handle struct {
	popTime   int64
	reviveQid int32
}

// parseHandle reads a handle, which has six fields at least: ckQueueOffset popTime invisibleTime
// reviveQid retryFlag brokerName.
func parseHandle(text []byte) (h handle, err error) {
	var numbers [4]int64
	rest := text
	for i := range numbers {
		field, behind, more := bytes.Cut(rest, []byte{' '})
		n, ok := integer(field)
		if !ok || !more {
			return h, remoting.Errorf(remoting.SystemError, "the handle %q is damaged: its field %d is no number or the last one", text, i+1)
		}
		numbers[i], rest = n, behind
	}
	if _, broker, _ := bytes.Cut(rest, []byte{' '}); len(broker) == 0 {
		return h, remoting.Errorf(remoting.SystemError, "the handle %q is damaged: it has no broker's name", text)
	}
	return handle{popTime: numbers[1], reviveQid: int32(numbers[3])}, nil
}

// integer reads a decimal number of at most 18 digits, without an allocation.
func integer(text []byte) (n int64, ok bool) {
	digits, negative := text, false
	if len(digits) > 0 && digits[0] == '-' {
		digits, negative = digits[1:], true
	}
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}
