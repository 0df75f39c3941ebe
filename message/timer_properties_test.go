package message_test

import (
	"bytes"
	"testing"

	"github.com/wheelmq/wheelmq/message"
)

// FuzzTimerProperties compares the walk with one look-up for each property.
func FuzzTimerProperties(f *testing.F) {
	f.Add([]byte("TIMER_DELAY_SEC\x015\x02TIMER_DELAY_MS\x017\x02TIMER_DELIVER_MS\x019\x02__STARTDELIVERTIME\x0111"))
	f.Add([]byte("TIMER_OUT_MS\x011000\x02REAL_TOPIC\x01T\x02REAL_QID\x013\x02__WMQ_DUE\x01w1001\x02__WMQ_SUP\x01a:1:2\x02"))
	f.Add([]byte("TIMER_OUT_MS\x011\x02TIMER_OUT_MS\x01\x02TIMER_OUT_MS\x012\x02TIMER_DEL_UNIQKEY\x01T+K\x02TIMER_DEQUEUE_MS\x013"))
	f.Add([]byte("XTIMER_OUT_MS\x011\x02TIMER_OUT_MS2\x011\x02\x02\x01TIMER_DELAY_MS\x011\x02REAL_TOPIC\x01A\x01B\x02"))
	f.Fuzz(func(t *testing.T, props []byte) {
		p := message.TimerPropertiesOf(props)
		for name, got := range map[string][]byte{
			message.PropertyTimerDelaySec: p.DelaySec, message.PropertyTimerDelayMs: p.DelayMs, message.PropertyTimerDeliverMs: p.DeliverMs,
			message.PropertyStartDeliverTime: p.StartDeliverTime, message.PropertyTimerDelUniqKey: p.DelUniqKey, message.PropertyTimerOutMs: p.OutMs,
			message.PropertyTimerDequeueMs: p.DequeueMs, message.PropertyRealTopic: p.RealTopic, message.PropertyDueMs: p.DueMs,
			message.PropertySupersedes: p.Supersedes,
		} {
			want, ok := message.PropertyGet(props, name)
			if !bytes.Equal(got, want) || (got != nil) != ok {
				t.Errorf("%s is %q, want %q, %v", name, got, want, ok)
			}
		}
	})
}
