package explain

import (
	"fmt"
	"strconv"
	"time"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/message"
)

// instant is an instant, ms since the epoch, for people.
func instant(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// until says how far an instant is: "in 41s", "1m3s ago".
func until(ms, nowMs int64) string {
	d := time.Duration(ms-nowMs) * time.Millisecond
	precision := time.Second
	if d.Abs() < 10*time.Second {
		precision = 10 * time.Millisecond
	}
	if d < 0 {
		return (-d).Round(precision).String() + " ago"
	}
	return "in " + d.Round(precision).String()
}

// dueOf is when a waiting record is delivered, ms since the epoch; levels is the broker's table,
// messageDelayLevel. ok is false when nothing tells.
func dueOf(m *admin.Message, levels schedule.Levels) (ms int64, ok bool) {
	if due, ok := message.ParseDue([]byte(m.Properties[message.PropertyDueMs])); ok {
		return due.Ms, true
	}
	if m.Topic == message.TopicSchedule {
		if level := int(m.QueueID); level < len(levels) {
			return m.StoreMs + levels[level], true
		}
		return 0, false
	}
	for _, name := range []string{message.PropertyTimerDeliverMs, message.PropertyTimerOutMs} {
		if ms, err := strconv.ParseInt(m.Properties[name], 10, 64); err == nil {
			return ms, true
		}
	}
	return 0, false
}

// levelOf is the delay level of a record of the schedule topic: level n waits in queue n-1.
func levelOf(m *admin.Message) int { return int(m.QueueID) + 1 }

// graceMs is what a broker may take to deliver what is due: the real one looks at its timers every second.
const graceMs = 2000

// waitsUntil is the sentence about a record that waits, and when it is due.
func waitsUntil(m *admin.Message, d *delays, nowMs int64) (says string, dueMs int64) {
	if m.Topic == message.TopicSchedule {
		says = fmt.Sprintf("level %d, queue %d, ", levelOf(m), m.QueueID)
	}
	off := d.off(m)
	due, ok := dueOf(m, d.levels)
	if !ok {
		says += "due at an instant that the broker does not tell"
	} else {
		overdue := due < nowMs-graceMs
		if overdue {
			says += "overdue: "
		}
		says += fmt.Sprintf("due %s, %s", instant(due), until(due, nowMs))
		if overdue && off == "" {
			says += ": the broker's delay service is behind, or the topic refuses it for a while"
		}
	}
	if off != "" {
		says += "; nothing delivers it: " + off
	}
	return says, due
}
