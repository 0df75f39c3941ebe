package transaction

import (
	"bytes"
	"strconv"

	"github.com/wheelmq/wheelmq/message"
)

// opTag is TAGS of the records that name half messages which have ended.
const opTag = "d"

// nothingEnded is the body of an op record that only tells of checks: an offset below all there are.
const nothingEnded = "-1,"

// ops are what op records have yet to say. The Service's lock guards them.
type ops struct {
	ended   []int64 // half messages
	checked []int64 // half messages whose producers were asked
	size    int     // of the bodies, bytes
}

func (o *ops) end(offset int64) {
	o.ended = append(o.ended, offset)
	o.size += len(strconv.FormatInt(offset, 10)) + 1
}

func (o *ops) empty() bool { return len(o.ended) == 0 && len(o.checked) == 0 }

// opRecord is an op record as it is written: its body, its properties, and the last half message it
// is about.
type opRecord struct {
	body, props []byte
	last        int64
	ended       int // how many it names
	checked     int
}

// compose makes the next op record of what there is to say, none of it longer than size, bytes.
// asked tells how often a producer was asked; endedBelow is for the record that says the last of it.
func (o *ops) compose(size int, asked func(offset int64) int, endedBelow int64) (r opRecord) {
	r.last = -1
	for _, offset := range o.ended {
		if len(r.body) >= size {
			break
		}
		r.body = append(strconv.AppendInt(r.body, offset, 10), ',')
		r.last, r.ended = max(r.last, offset), r.ended+1
	}
	var checks []byte
	for _, offset := range o.checked {
		if len(checks) >= size {
			break
		}
		r.checked++
		n := asked(offset)
		if n == 0 {
			continue // it has ended
		}
		checks = strconv.AppendInt(append(strconv.AppendInt(checks, offset, 10), ':'), int64(n), 10)
		checks = append(checks, ',')
		r.last = max(r.last, offset)
	}
	if r.ended == 0 {
		r.body = append(r.body, nothingEnded...)
	}
	r.props = message.PropertyAppend(r.props, message.PropertyTags, opTag)
	if len(checks) > 0 {
		r.props = message.PropertyAppend(r.props, message.PropertyChecks, checks)
	}
	if r.ended == len(o.ended) {
		r.props = message.PropertyAppend(r.props, message.PropertyEndedBelow, strconv.FormatInt(endedBelow, 10))
	}
	return r
}

// written takes out what a record says.
func (o *ops) written(r *opRecord) {
	o.ended, o.checked = o.ended[r.ended:], o.checked[r.checked:]
	o.size = max(0, o.size-len(r.body))
	if len(o.ended) == 0 {
		o.ended, o.size = nil, 0
	}
	if len(o.checked) == 0 {
		o.checked = nil
	}
}

// readOp calls ended with every half message that the body of an op record names. What is no number
// is passed over, as the real broker does.
func readOp(body []byte, ended func(offset int64)) {
	for len(body) > 0 {
		var text []byte
		text, body, _ = bytes.Cut(body, []byte(","))
		if offset, err := strconv.ParseInt(string(text), 10, 64); err == nil && offset >= 0 {
			ended(offset)
		}
	}
}

// readChecks calls checked with every half message that PropertyChecks names; what is no number is
// passed over.
func readChecks(text []byte, checked func(offset int64, times int)) {
	for len(text) > 0 {
		var one []byte
		one, text, _ = bytes.Cut(text, []byte(","))
		first, second, _ := bytes.Cut(one, []byte(":"))
		offset, err := strconv.ParseInt(string(first), 10, 64)
		if err != nil {
			continue
		}
		if times, err := strconv.ParseUint(string(second), 10, 16); err == nil {
			checked(offset, int(times))
		}
	}
}
