package message_test

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/wheelmq/wheelmq/message"
)

// FuzzPending makes properties pending in both ways. What a reader finds must be the same, and that of
// the others as if each had been looked at.
func FuzzPending(f *testing.F) {
	f.Add([]byte("UNIQ_KEY\x01K\x02TIMER_DELIVER_MS\x0112\x02WAIT\x01true"), int64(12), true, int32(3))
	f.Add([]byte("TIMER_DELAY_SEC\x015\x02TIMER_DELAY_MS\x017\x02REAL_QID\x011\x02__WMQ_DUE\x01w1\x02REAL_TOPIC\x01X"), int64(1_800_000_000_000), false, int32(0))
	f.Add([]byte("\x02\x01v\x02TIMER_OUT_MS\x01\x02TIMER_ROLL_TIMES\x01R\x01\x02"), int64(-5), true, int32(-1))
	f.Fuzz(func(t *testing.T, props []byte, due int64, wall bool, queue int32) {
		p := message.Pending{Due: message.Due{Ms: due, Wall: wall}, DeliverMs: strconv.AppendInt(nil, due, 10), OutMs: due / 2, Topic: "Orders", QueueID: queue}
		asked := message.TimerPropertiesOf(props)
		first, last := asked.AppendOthers(p.AppendFirst(nil), props), p.AppendLast(asked.AppendOthers(nil, props))
		if got, realTopic, ok := message.PendingFirst(first); !ok || got != p.Due || string(realTopic) != p.Topic {
			t.Fatalf("%q is read as %v, %q, %v", first, got, realTopic, ok)
		}
		if _, _, ok := message.PendingFirst(last); ok {
			t.Fatalf("%q is taken for a message that removes no other", last)
		}
		for _, pending := range [][]byte{first, last} {
			comparePending(t, pending, props, &p)
		}
	})
}

func comparePending(t *testing.T, pending, props []byte, p *message.Pending) {
	t.Helper()
	want := map[string]string{
		message.PropertyDueMs: string(p.Due.AppendTo(nil)), message.PropertyRealTopic: p.Topic, message.PropertyTimerDeliverMs: string(p.DeliverMs),
		message.PropertyRealQueueID: strconv.Itoa(int(p.QueueID)), message.PropertyTimerOutMs: strconv.FormatInt(p.OutMs, 10),
	}
	message.PropertyEach(props, func(name, value []byte) {
		if !message.IsPending(name) {
			want[string(name)] = string(value)
		}
	})
	found := 0
	message.PropertyEach(pending, func(name, value []byte) {
		if found++; want[string(name)] == "" {
			t.Errorf("%q has %s", pending, name)
		}
	})
	for name, value := range want {
		if got, _ := message.PropertyGet(pending, name); string(got) != value {
			t.Errorf("%s of %q is %q, want %q", name, pending, got, value)
		}
	}
	if found < len(want) || !bytes.HasSuffix(pending, []byte{2}) {
		t.Errorf("%q has %d properties, want at least %d, closed", pending, found, len(want))
	}
}
