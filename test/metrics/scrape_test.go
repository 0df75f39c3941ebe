package metrics

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/wheelmq/wheelmq/test/peer"
)

// common are the labels that every metric of a broker has.
const common = "cluster node_id node_type otel_scope_name"

// names are the metrics of the real 5.5.0 that apply to this server, with their labels beside the common
// ones. Those of its pop buffers and revive queues, of RocksDB, of tiered storage and of the controller do
// not: there are no such things here.
var names = map[string]string{
	"rocketmq_broker_permission":                         "",
	"rocketmq_topic_number":                              "",
	"rocketmq_consumer_group_number":                     "",
	"rocketmq_processor_watermark":                       "processor",
	"rocketmq_producer_connections":                      "language protocol_type version",
	"rocketmq_consumer_connections":                      "consume_mode consumer_group is_system language protocol_type version",
	"rocketmq_messages_in_total":                         "is_system message_type topic",
	"rocketmq_throughput_in_total":                       "is_system message_type topic",
	"rocketmq_message_size":                              "is_system message_type topic",
	"rocketmq_messages_out_total":                        "consumer_group is_system topic",
	"rocketmq_throughput_out_total":                      "consumer_group is_system topic",
	"rocketmq_topic_create_execution_time_milliseconds":  "invocation_status is_system",
	"rocketmq_consumer_lag_messages":                     "consumer_group is_retry is_system topic",
	"rocketmq_consumer_lag_latency_milliseconds":         "consumer_group is_retry is_system topic",
	"rocketmq_consumer_inflight_messages":                "consumer_group is_retry is_system topic",
	"rocketmq_consumer_queueing_latency_milliseconds":    "consumer_group is_retry is_system topic",
	"rocketmq_consumer_ready_messages":                   "consumer_group is_retry is_system topic",
	"rocketmq_send_to_dlq_messages_total":                "consumer_group is_system topic",
	"rocketmq_half_messages":                             "topic",
	"rocketmq_commit_messages_total":                     "topic",
	"rocketmq_rollback_messages_total":                   "topic",
	"rocketmq_finish_message_latency_milliseconds":       "topic",
	"rocketmq_rpc_latency_milliseconds":                  "is_long_polling protocol_type request_code response_code result",
	"rocketmq_storage_size_bytes":                        "storage_medium storage_type",
	"rocketmq_storage_flush_behind_bytes":                "storage_medium storage_type",
	"rocketmq_storage_dispatch_behind_bytes":             "storage_medium storage_type",
	"rocketmq_storage_message_reserve_time_milliseconds": "storage_medium storage_type",
	"rocketmq_timer_enqueue_lag":                         "storage_medium storage_type",
	"rocketmq_timer_enqueue_latency_milliseconds":        "storage_medium storage_type",
	"rocketmq_timer_dequeue_lag":                         "storage_medium storage_type",
	"rocketmq_timer_dequeue_latency_milliseconds":        "storage_medium storage_type",
	"rocketmq_timing_messages":                           "storage_medium storage_type topic",
	"rocketmq_timer_enqueue_total":                       "storage_medium storage_type topic",
	"rocketmq_timer_dequeue_total":                       "storage_medium storage_type topic",
	"rocketmq_timer_message_snapshot":                    "storage_medium storage_type timer_bound_s",
	"rocketmq_delay_message_latency_seconds":             "storage_medium storage_type topic",
}

// ours are this server's own.
var ours = map[string]string{
	"rocketmq_schedule_service_status":      "",
	"rocketmq_timer_service_status":         "",
	"rocketmq_delay_queue_lag":              "queue",
	"rocketmq_delay_pending":                "queue",
	"rocketmq_delay_topic_pending":          "topic",
	"rocketmq_delay_delivery_latency":       "level",
	"rocketmq_delay_oldest_overdue_seconds": "service",
	"rocketmq_delay_overdue":                "service",
	"rocketmq_delay_overdue_messages":       "service",
	"rocketmq_delay_service_hangs":          "service",
	"wheelmq_timer_delivery_latency":        "",
	"rocketmq_parked_messages":              "",
}

// sameForBoth are the figures after the load, of both servers.
var sameForBoth = map[string]float64{
	"rocketmq_messages_in_total{false,normal,orders}":                                           5,
	"rocketmq_messages_in_total{true,delay,rmq_sys_wheel_timer}":                                2,
	"rocketmq_messages_in_total{true,transaction,RMQ_SYS_TRANS_HALF_TOPIC}":                     3,
	"rocketmq_messages_out_total{billing,false,orders}":                                         8,
	"rocketmq_consumer_lag_messages{billing,false,false,orders}":                                5,
	"rocketmq_consumer_inflight_messages{billing,false,false,orders}":                           5,
	"rocketmq_consumer_ready_messages{billing,false,false,orders}":                              0,
	"rocketmq_send_to_dlq_messages_total{billing,false,orders}":                                 1,
	"rocketmq_half_messages{orders}":                                                            1,
	"rocketmq_commit_messages_total{orders}":                                                    1,
	"rocketmq_rollback_messages_total{orders}":                                                  1,
	"rocketmq_timing_messages{disk,local,orders}":                                               1,
	"rocketmq_timer_enqueue_total{disk,local,orders}":                                           2,
	"rocketmq_timer_dequeue_total{disk,local,orders}":                                           1,
	"rocketmq_timer_message_snapshot{disk,local,3600}":                                          1,
	"rocketmq_delay_message_latency_seconds{disk,local,orders}":                                 2,
	"rocketmq_finish_message_latency_milliseconds{orders}":                                      1,
	"rocketmq_rpc_latency_milliseconds{false,remoting,send_message_v2,success,success}":         12,
	"rocketmq_rpc_latency_milliseconds{false,remoting,end_transaction,success,success}":         2,
	"rocketmq_rpc_latency_milliseconds{false,remoting,consumer_send_msg_back,success,success}":  2,
	"rocketmq_rpc_latency_milliseconds{false,remoting,update_and_create_topic,success,success}": 1,
	"rocketmq_topic_create_execution_time_milliseconds{success,false}":                          1,
	"rocketmq_broker_permission{}":                                                              6,
}

// parse reads a scrape as Prometheus does.
func parse(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// labels are the names and the values of a metric's labels but the common ones.
func labels(m *dto.Metric) (keys, values []string) {
	for _, l := range m.GetLabel() {
		if !strings.Contains(common, l.GetName()) {
			keys, values = append(keys, l.GetName()), append(values, l.GetValue())
		}
	}
	return keys, values
}

func value(m *dto.Metric) float64 {
	if h := m.GetHistogram(); h != nil {
		return float64(h.GetSampleCount())
	}
	return m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
}

// TestScrape_HasEveryName: a scrape parses, and has every name that applies with the real broker's labels.
func TestScrape_HasEveryName(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load(t)
	want := maps.Clone(names)
	if s.Kind == peer.Ours {
		maps.Copy(want, ours)
	}
	families := parse(t, s.scrape(t))
	for name, keys := range want {
		family := families[name]
		if family == nil {
			t.Errorf("%s is not there", name)
			continue
		}
		for _, m := range family.GetMetric() {
			if got, _ := labels(m); strings.Join(got, " ") != keys {
				t.Errorf("%s has labels %q, want %q", name, got, keys)
				break
			}
			if n := len(m.GetLabel()) - len(strings.Fields(keys)); n != len(strings.Fields(common)) {
				t.Errorf("%s has %d of the labels %s", name, n, common)
				break
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if s.Kind == peer.Ours && families[name].GetHelp() == "" {
			t.Errorf("%s does not say what it is", name)
		}
	}
}

// TestScrape_HasTheFigures: the figures after a known load are the real broker's.
func TestScrape_HasTheFigures(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.load(t)
	got := map[string]float64{}
	for name, family := range parse(t, s.scrape(t)) {
		for _, m := range family.GetMetric() {
			_, values := labels(m)
			got[fmt.Sprintf("%s{%s}", name, strings.Join(values, ","))] = value(m)
		}
	}
	for name, want := range sameForBoth {
		if n, ok := got[name]; !ok || n != want {
			t.Errorf("%s is %v (there: %v), want %v", name, n, ok, want)
		}
	}
}
