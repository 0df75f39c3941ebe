package timer_test

import (
	"testing"

	"github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
)

// BenchmarkAdmit is what admission adds to a send.
func BenchmarkAdmit(b *testing.B) {
	log, _ := test.NewNullLogger()
	timeline := clock.OpenTimeline(clock.TimelineOptions{Log: log})
	differences, err := difference.NewSet("")
	if err != nil {
		b.Fatal(err)
	}
	a := timer.NewAdmission(timer.AdmissionOptions{Enabled: true, MaxDelayMs: 1 << 50, PrecisionMs: 1000, CongestNum: 1<<31 - 1,
		Store: timeline, Differences: differences})
	props := []byte("UNIQ_KEY\x017F0000010000000000000000000000000\x02WAIT\x01true\x02TIMER_DELIVER_MS\x019999999999999\x02MSG_REGION\x01DefaultRegion\x02TRACE_ON\x01true\x02")
	var rec message.Record
	b.ReportAllocs()
	for b.Loop() {
		rec.Topic, rec.QueueID, rec.Properties = "TimerScale", 3, props
		if err := a.Admit(&rec); err != nil || rec.Topic != message.TopicTimer {
			b.Fatal(rec.Topic, err)
		}
	}
}
