package offline_test

import (
	"encoding/binary"
	"strconv"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/offline"
)

func (b *builder) timer(at int64, properties ...string) {
	b.t.Helper()
	b.put(message.TopicTimer, 0, "timer", append([]string{"TIMER_OUT_MS", strconv.FormatInt(at, 10), "REAL_TOPIC", "T"}, properties...)...)
}

func timerCheck(read int64) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(read))) + string(make([]byte, 4088))
}

// TestDir_Waiting counts what nobody of this server would deliver, and only that.
func TestDir_Waiting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fill func(b *builder)
		want offline.Waiting
	}{
		"nothing": {func(b *builder) { b.plain("T", 3) }, offline.Waiting{}},
		"timers, of which one was delivered": {func(b *builder) {
			b.timer(begin-1000, "UNIQ_KEY", "A")
			b.timer(begin+5000, "UNIQ_KEY", "B")
			b.timer(begin, "UNIQ_KEY", "C")
			b.write("config/timercheck", timerCheck(begin))
		}, offline.Waiting{Timers: 2, FirstTimer: begin}},
		"all timers were delivered": {func(b *builder) {
			b.timer(begin-1000, "UNIQ_KEY", "A")
			b.write("config/timercheck", timerCheck(begin))
		}, offline.Waiting{}},
		"without the timer's checkpoint every timer waits": {func(b *builder) {
			b.timer(begin-1000, "UNIQ_KEY", "A")
			b.write("config/timercheck", "")
		}, offline.Waiting{Timers: 1, FirstTimer: begin - 1000}},
		"this server's own": {func(b *builder) {
			b.timer(begin+9000, message.PropertyDueMs, "w1800000009500")
			b.timer(begin+9000, "UNIQ_KEY", "A")
			b.write("config/timercheck", timerCheck(begin))
		}, offline.Waiting{Timers: 1, FirstTimer: begin + 9000}},
		"the real broker was never here": {func(b *builder) {
			b.timer(begin+9000, "UNIQ_KEY", "A")
		}, offline.Waiting{}},
		"a timer that was rolled is one": {func(b *builder) {
			b.timer(begin+9000, "UNIQ_KEY", "A")
			b.timer(begin+9000, "UNIQ_KEY", "A", "TIMER_ROLL_TIMES", "1")
			b.write("config/timercheck", timerCheck(begin))
		}, offline.Waiting{Timers: 1, FirstTimer: begin + 9000}},
		"what cancels a timer and what is no timer do not count": {func(b *builder) {
			b.timer(begin+9000, "UNIQ_KEY", "A", "TIMER_DEL_UNIQKEY", "B")
			b.put(message.TopicTimer, 0, "poison")
		}, offline.Waiting{}},
		"half messages, some decided": {func(b *builder) {
			for range 6 {
				b.put(message.TopicTransHalf, 0, "half")
			}
			b.put(message.TopicTransOpHalf, 0, "0,1,")
			b.put(message.TopicTransOpHalf, 0, "3,4,77,")
			b.write("config/consumerOffset.json", `{"offsetTable":{"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:2},"RMQ_SYS_TRANS_OP_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:1}}}`)
		}, offline.Waiting{Halves: 2}},
		"pop records beyond what was revived": {func(b *builder) {
			for range 4 {
				b.put("rmq_sys_REVIVE_LOG_DefaultCluster", 1, "ck")
			}
			b.write("config/consumerOffset.json", `{"offsetTable":{"rmq_sys_REVIVE_LOG_DefaultCluster@CID_RMQ_SYS_REVIVE_GROUP":{1:3}}}`)
		}, offline.Waiting{Pops: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := build(t)
			c.fill(b)
			b.close()
			got, err := b.offline().Waiting()
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}
