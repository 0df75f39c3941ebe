package stats_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/remoting"
)

// figures are the metrics by name and label values: of a histogram the count, and the cumulative buckets.
func figures(t *testing.T, from prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = m.GetCounter().GetValue()
			if h := m.GetHistogram(); h != nil {
				got[name], got[name+" first"] = float64(h.GetSampleCount()), float64(h.GetBucket()[0].GetCumulativeCount())
			}
		}
	}
	return got
}

// TestTraffic counts allocations too, which parallel tests cannot.
func TestTraffic(t *testing.T) {
	metrics := prometheus.NewRegistry()
	s, err := stats.New(stats.Options{Wire: clock.NewVirtual(0), Cluster: "C", Metrics: metrics})
	if err != nil {
		t.Fatal(err)
	}
	in := s.TopicCounters([]byte("T"))
	in.In(stats.Normal, 1024)
	in.In(stats.Normal, 1025)
	in.In(stats.Normal, 10<<20)
	in.InMany(stats.Delay, 2, 7)
	s.TopicCounters([]byte("SCHEDULE_TOPIC_XXXX")).In(stats.Delay, 9)
	s.GroupCounters([]byte("g"), []byte("T")).Got(2, 50)
	s.GroupCounters([]byte("g"), []byte("T")).DeadLetter()
	got := figures(t, metrics)
	for name, want := range map[string]float64{
		"rocketmq_messages_in_total false normal T": 3, "rocketmq_throughput_in_total false normal T": 1024 + 1025 + 10<<20,
		"rocketmq_message_size false normal T": 3, "rocketmq_message_size false normal T first": 1,
		"rocketmq_messages_in_total false delay T": 2, "rocketmq_throughput_in_total false delay T": 14, "rocketmq_messages_in_total true delay SCHEDULE_TOPIC_XXXX": 1,
		"rocketmq_messages_out_total g false T": 2, "rocketmq_throughput_out_total g false T": 50, "rocketmq_send_to_dlq_messages_total g false T": 1,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if _, there := got["rocketmq_messages_in_total false fifo T"]; there {
		t.Error("a kind without messages is shown")
	}
	if n := testing.AllocsPerRun(100, func() { in.In(stats.FIFO, 2048) }); n != 0 {
		t.Errorf("counting a message allocates %v times", n)
	}
}

// TestRPC counts allocations too.
func TestRPC(t *testing.T) {
	metrics := prometheus.NewRegistry()
	r, err := stats.NewRPC(clock.NewVirtual(0), metrics)
	if err != nil {
		t.Fatal(err)
	}
	send := &remoting.Route{Code: remoting.SendMessageV2, Name: "SEND_MESSAGE_V2"}
	pull := &remoting.Route{Code: remoting.PullMessage, Name: "PULL_MESSAGE"}
	create := &remoting.Route{Code: remoting.UpdateAndCreateTopic, Name: "UPDATE_AND_CREATE_TOPIC"}
	r.Served(send, remoting.Success, 1, false, remoting.Answered)
	r.Served(send, remoting.Success, 2, true, remoting.Answered) // waited for the disk
	r.Served(send, remoting.SystemBusy, 0, false, remoting.Oneway)
	r.Served(pull, remoting.PullNotFound, 15_000, true, remoting.Answered)
	r.Served(create, remoting.InvalidParameter, 0, false, remoting.Failed)
	got := figures(t, metrics)
	for name, want := range map[string]float64{
		"rocketmq_rpc_latency_milliseconds false remoting send_message_v2 success success":                                  2,
		"rocketmq_rpc_latency_milliseconds false remoting send_message_v2 success success first":                            1,
		"rocketmq_rpc_latency_milliseconds false remoting send_message_v2 system_busy oneway":                               1,
		"rocketmq_rpc_latency_milliseconds true remoting pull_message pull_not_found success":                               1,
		"rocketmq_rpc_latency_milliseconds false remoting update_and_create_topic invalid_parameter process_request_failed": 1,
		"rocketmq_topic_create_execution_time_milliseconds failure false":                                                   1,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { r.Served(send, remoting.Success, 1, false, remoting.Answered) }); n != 0 {
		t.Errorf("a request allocates %v times", n)
	}
}
