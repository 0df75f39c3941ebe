package timer

import (
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
)

// FuzzAdmission: whatever a client sends is refused, stored as it is, or waits for an instant that
// is not past, not beyond the limit, and lies behind its TIMER_OUT_MS by at most the precision.
func FuzzAdmission(f *testing.F) {
	for _, props := range [][]byte{
		properties("TIMER_DELAY_SEC", 5), properties("TIMER_DELAY_MS", "-1"), properties("TIMER_DELIVER_MS", nowMs+1, "TIMER_DEL_UNIQKEY", "K"),
		properties("TIMER_OUT_MS", nowMs-2000, "TIMER_DEQUEUE_MS", nowMs, "TIMER_DELAY_SEC", 3), []byte("TIMER_DELAY_SEC\x01"),
	} {
		f.Add(props, int64(nowMs-40), true, int64(1000))
	}
	differences, err := difference.NewSet("")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, props []byte, born int64, virtual bool, precision int64) {
		precision = min(max(precision, 1), 1000)
		a := NewAdmission(AdmissionOptions{
			Enabled: true, MaxDelayMs: 3 * day, PrecisionMs: precision, CongestNum: 1 << 40, Virtual: virtual, StartDeliverTime: true,
			Store: clock.NewVirtual(nowMs), Differences: differences,
		})
		rec := message.Record{Topic: "T", QueueID: 1, Properties: props, BornTimestamp: born}
		if err := a.Admit(&rec); err != nil || rec.Topic == "T" {
			return
		}
		due, ok := message.DueOf(rec.Properties)
		out, hasOut := message.TimerOutOf(rec.Properties)
		if !ok || !hasOut || due.Ms <= nowMs || due.Ms-nowMs > 3*day || due.Ms <= out || due.Ms > out+precision || due.Wall && virtual {
			t.Fatalf("%q waits for %+v, TIMER_OUT_MS %d", props, due, out)
		}
		if name, _ := message.PropertyGet(rec.Properties, message.PropertyRealTopic); string(name) != "T" {
			t.Fatalf("%q is for topic %q", props, name)
		}
	})
}
