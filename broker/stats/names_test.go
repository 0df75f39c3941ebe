package stats_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/clock"
)

func TestNamesAndKeys(t *testing.T) {
	t.Parallel()
	wire := clock.NewVirtual(1_000_000)
	s := open(t, wire)
	topic, group := s.TopicCounters([]byte("T")), s.GroupCounters([]byte("g"), []byte("T"))
	topic.PutOK(3, 30)
	topic.PutTook(1, 5)
	topic.PutTook(-1, 4)
	topic.QueuePut(2, 10)
	group.Got(2, 20)
	group.GotTook(1, 7)
	group.Delivered(0, 9)
	group.SentBack()
	group.DeadLetter()
	group.Acked(4)
	group.Checkpointed(6)
	run(t, wire, 10)
	for key, want := range map[[2]string]int64{
		{"TOPIC_PUT_NUMS", "T"}: 3, {"TOPIC_PUT_SIZE", "T"}: 30, {"TOPIC_PUT_LATENCY", "1@T"}: 5, {"TOPIC_PUT_LATENCY", "0@T"}: 4,
		{"QUEUE_PUT_NUMS", "T@2"}: 1, {"QUEUE_PUT_SIZE", "T@2"}: 10, {"GROUP_GET_NUMS", "T@g"}: 3, {"GROUP_GET_SIZE", "T@g"}: 29,
		{"GROUP_GET_LATENCY", "1@T@g"}: 7, {"QUEUE_GET_NUMS", "T@0@g"}: 1, {"QUEUE_GET_SIZE", "T@0@g"}: 9, {"SNDBCK_PUT_NUMS", "T@g"}: 1,
		{"SNDBCK2DLQ_TIMES", "T@g"}: 1, {"GROUP_ACK_NUMS", "T@g"}: 4, {"GROUP_CK_NUMS", "T@g"}: 6, {"BROKER_PUT_NUMS", "C"}: 3,
		{"BROKER_GET_NUMS", "C"}: 2, {"BROKER_ACK_NUMS", "C"}: 4, {"BROKER_CK_NUMS", "C"}: 6,
		{"BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC", "C"}: 3, {"BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC", "C"}: 2,
	} {
		if v, ok := s.View(key[0], key[1]); !ok || v.Minute.Sum != want || v.Hour.Sum != want || v.Day.Sum != want {
			t.Errorf("%s of %s: %v %+v, want %d", key[0], key[1], ok, v, want)
		}
	}
	for _, key := range [][2]string{
		{"QUEUE_PUT_NUMS", "T"}, {"QUEUE_PUT_NUMS", "T@9"}, {"QUEUE_PUT_NUMS", "T@x"}, {"QUEUE_PUT_NUMS", "T@-1"}, {"QUEUE_PUT_NUMS", "T@2@g"},
		{"QUEUE_GET_NUMS", "T@0"}, {"QUEUE_GET_NUMS", "T@1@none"}, {"TOPIC_PUT_LATENCY", "T@1"}, {"TOPIC_PUT_LATENCY", "2@none"},
	} {
		if v, ok := s.View(key[0], key[1]); ok {
			t.Errorf("%s of %s: %+v", key[0], key[1], v)
		}
	}
}

func TestHourAndDay(t *testing.T) {
	t.Parallel()
	wire := clock.NewVirtual(1_000_000)
	s := open(t, wire)
	topic := s.TopicCounters([]byte("T"))
	topic.PutOK(100, 1)
	if v, _ := s.View("TOPIC_PUT_NUMS", "T"); v.Hour.Sum != 100 || v.Day.Sum != 100 {
		t.Errorf("before the first sample of the hour %d, the day %d; want 100", v.Hour.Sum, v.Day.Sum)
	}
	run(t, wire, 70*60)
	topic.PutOK(7, 1)
	v, _ := s.View("TOPIC_PUT_NUMS", "T")
	if v.Minute.Sum != 0 || v.Hour.Sum != 7 || v.Day.Sum != 107 {
		t.Errorf("of the minute %d, the hour %d, the day %d; want 0, 7 and 107", v.Minute.Sum, v.Hour.Sum, v.Day.Sum)
	}
}
