package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
)

// document is a Rule in JSON.
type document struct {
	ID               string       `json:"id,omitempty"`
	Code             requestCode  `json:"code,omitempty"`
	Topic            string       `json:"topic,omitempty"`
	Group            string       `json:"group,omitempty"`
	Skip             int          `json:"skip,omitempty"`
	Count            int          `json:"count,omitempty"`
	Respond          responseCode `json:"respond,omitempty"`
	Remark           string       `json:"remark,omitempty"`
	DelayMs          int64        `json:"delayMs,omitempty"`
	DropReply        bool         `json:"dropReply,omitempty"`
	CloseConn        bool         `json:"closeConn,omitempty"`
	DiskFull         bool         `json:"diskFull,omitempty"`
	FsyncFails       bool         `json:"fsyncFails,omitempty"`
	BrokerMissing    bool         `json:"brokerMissing,omitempty"`
	SchedulerStalled bool         `json:"schedulerStalled,omitempty"`
}

// maxDelayMs is a day: what is longer is a mistake in the unit.
const maxDelayMs = 24 * 3_600_000

// MarshalJSON writes the rule with codes as numbers and the delay in ms.
func (r Rule) MarshalJSON() ([]byte, error) {
	return json.Marshal(document{
		ID: r.ID, Code: requestCode(r.Code), Topic: r.Topic, Group: r.Group, Skip: r.Skip, Count: r.Count,
		Respond: responseCode(r.Respond), Remark: r.Remark, DelayMs: r.Delay.Milliseconds(), DropReply: r.DropReply,
		CloseConn: r.CloseConn, DiskFull: r.DiskFull, FsyncFails: r.FsyncFails, BrokerMissing: r.BrokerMissing,
		SchedulerStalled: r.SchedulerStalled,
	})
}

// UnmarshalJSON reads a rule. Codes are numbers or RocketMQ's names, e.g. "SEND_MESSAGE_V2" and
// "SYSTEM_BUSY". A field that rules do not have is an error, which like every other wraps
// ErrInvalid.
func (r *Rule) UnmarshalJSON(b []byte) error {
	var d document
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		if errors.Is(err, ErrInvalid) {
			return err
		}
		return invalid("%w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return invalid("something follows the rule")
	}
	if d.DelayMs > maxDelayMs || d.DelayMs < -maxDelayMs {
		return invalid("delayMs is %d, want at most a day", d.DelayMs)
	}
	*r = Rule{
		ID: d.ID, Code: int32(d.Code), Topic: d.Topic, Group: d.Group, Skip: d.Skip, Count: d.Count,
		Respond: int32(d.Respond), Remark: d.Remark, Delay: time.Duration(d.DelayMs) * time.Millisecond, DropReply: d.DropReply,
		CloseConn: d.CloseConn, DiskFull: d.DiskFull, FsyncFails: d.FsyncFails, BrokerMissing: d.BrokerMissing,
		SchedulerStalled: d.SchedulerStalled,
	}
	return nil
}

type (
	requestCode  int32
	responseCode int32
)

// UnmarshalJSON reads a number or a name.
func (c *requestCode) UnmarshalJSON(b []byte) error {
	code, err := codeOf(b, "code", remoting.RequestCode)
	*c = requestCode(code)
	return err
}

// UnmarshalJSON reads a number or a name.
func (c *responseCode) UnmarshalJSON(b []byte) error {
	code, err := codeOf(b, "respond", remoting.ResponseCode)
	*c = responseCode(code)
	return err
}

func codeOf(b []byte, field string, byName func(string) (int32, bool)) (int32, error) {
	var name string
	if json.Unmarshal(b, &name) != nil {
		n, err := strconv.ParseInt(string(b), 10, 32)
		if err != nil {
			return 0, invalid("%s is %s, want a code's number or its name", field, b)
		}
		return int32(n), nil
	}
	if code, ok := byName(name); ok {
		return code, nil
	}
	if n, err := strconv.ParseInt(name, 10, 32); err == nil {
		return int32(n), nil
	}
	return 0, invalid("%s is %q, which is no code's name: want one as in RocketMQ, e.g. SEND_MESSAGE_V2 or SYSTEM_BUSY, or a number", field, name)
}
