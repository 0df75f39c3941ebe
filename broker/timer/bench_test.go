package timer_test

import (
	"context"
	"fmt"
	"testing"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/message"
)

// pend stores n messages of 128 bytes, due after a while, without waiting for each.
func (l *lab) pend(n int, dueMs func(i int) int64) {
	l.t.Helper()
	body := make([]byte, 128)
	var rec message.Record
	for i := range n {
		rec = message.Record{Topic: "T", QueueID: 2, Body: body, Scratch: rec.Scratch,
			Properties: message.PropertyAppend(message.PropertyAppend(nil, "TIMER_DELAY_MS", fmt.Sprint(dueMs(i))), "UNIQ_KEY", "7F0000010A2B63947C6B0123456789AB")}
		if _, _, err := l.appender.Put(&rec, appender.FromClient, nil); err != nil {
			l.t.Fatal(err)
		}
	}
}

func (l *lab) await1(cond func() bool) {
	l.t.Helper()
	for !cond() {
		if _, err := l.service.Settle(context.Background()); err != nil {
			l.t.Fatal(err)
		}
	}
}

// BenchmarkEnqueue is a pending record from its unit to the Timeline.
func BenchmarkEnqueue(b *testing.B) {
	l := newLabIn(b)
	l.inOrder, l.saveMs, l.file, l.asleep = false, 3000, 256<<20, true
	l.open()
	defer l.close()
	l.pend(b.N, func(i int) int64 { return 5000 + int64(i*7919)%3_000_000 })
	b.ReportAllocs()
	b.ResetTimer()
	l.service.Start()
	l.await1(func() bool { return l.service.Progress().QueueOffset == int64(b.N) })
}

// BenchmarkDeliver is a due message from the Timeline to the append of its copy.
func BenchmarkDeliver(b *testing.B) {
	l := newLabIn(b)
	l.inOrder, l.saveMs, l.file = false, 3000, 256<<20
	l.open()
	defer l.close()
	l.pend(b.N, func(int) int64 { return 60_000 })
	l.await1(func() bool { return l.service.Progress().QueueOffset == int64(b.N) })
	b.ReportAllocs()
	b.ResetTimer()
	l.clock.Set(startMs + 60_000)
	l.await1(func() bool { return l.count("T") == int64(b.N) })
}
