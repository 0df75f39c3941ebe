package metrics

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/fault"
	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// trap is a server whose scheduler can be stalled.
type trap struct {
	*testing.T
	*wheelmq.Instance
	log said
}

// spring starts one.
func spring(t *testing.T) *trap {
	t.Helper()
	cfg := config.Default()
	cfg.ListenPort, cfg.NamesrvListenPort, cfg.HTTPPort, cfg.BindAddress, cfg.MessageDelayLevel = 0, 0, 0, "127.0.0.1", "1s 5s"
	s, log := &trap{T: t}, logrus.New()
	log.SetOutput(io.Discard)
	log.AddHook(&s.log)
	i, err := wheelmq.Start(t.Context(), wheelmq.Config{Config: cfg, Log: log, Test: &wheelmq.TestConfig{Memory: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	s.Instance = i
	return s
}

// said keeps the warnings and errors that are logged.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Levels() []logrus.Level { return []logrus.Level{logrus.WarnLevel, logrus.ErrorLevel} }

func (s *said) Fire(e *logrus.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(&s.text, e.Level, e.Message, e.Data)
	return nil
}

func (s *said) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text.String(), text)
}

func (s *trap) get(path string) (status int, body string) {
	s.Helper()
	reply, err := http.Get("http://" + s.HTTPAddr() + path)
	if err != nil {
		s.Fatal(err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		s.Fatal(err)
	}
	return reply.StatusCode, string(b)
}

// gauge is a metric whose labels, but the common ones, are as given.
func (s *trap) gauge(name string, want ...string) float64 {
	s.Helper()
	_, text := s.get("/metrics")
	for _, m := range parse(s.T, text)[name].GetMetric() {
		if _, values := labels(m); strings.Join(values, ",") == strings.Join(want, ",") {
			return value(m)
		}
	}
	s.Errorf("no metric %s of %v", name, want)
	return -1
}

// backlog is what mqadmin topicStatus shows of the first queue of a topic: its end.
func backlog(t *testing.T, c *wire.Conn, topic string) int64 {
	t.Helper()
	answer := c.Call(t, wire.GetTopicStatsInfo, map[string]string{"topic": topic}, nil)
	if answer.Code != wire.Success {
		t.Fatal(answer)
	}
	// The keys are objects, as the real broker writes them.
	at := bytes.Index(answer.Body, []byte(`"queueId":0`))
	if at < 0 {
		return 0
	}
	_, rest, _ := bytes.Cut(answer.Body[at:], []byte(`"maxOffset":`))
	var max int64
	_ = json.NewDecoder(bytes.NewReader(rest)).Decode(&max)
	return max
}

// fires tells whether an alert fires when a scrape stays as it is for ten minutes.
func (s *trap) fires(alert string) bool {
	s.Helper()
	dir := s.TempDir()
	rules, err := filepath.Abs(filepath.Join(deploy, "prometheus", "alerts.yml"))
	if err != nil {
		s.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "rule_files: [%q]\nevaluation_interval: 15s\ntests:\n  - interval: 15s\n    input_series:\n", rules)
	_, text := s.get("/metrics")
	for line := range strings.SplitSeq(text, "\n") {
		series, n, ok := strings.Cut(line, "} ")
		if ok && strings.HasPrefix(line, "rocketmq_") && !strings.Contains(line, "_bucket") {
			fmt.Fprintf(&b, "      - {series: '%s}', values: '%sx40'}\n", series, n)
		}
	}
	fmt.Fprintf(&b, "    promql_expr_test:\n      - expr: 'count(ALERTS{alertname=\"%s\",alertstate=\"firing\"}) or vector(0)'\n", alert)
	b.WriteString("        eval_time: 9m\n        exp_samples: [{labels: '{}', value: 0}]\n")
	if err := os.WriteFile(filepath.Join(dir, "t.yml"), []byte(b.String()), 0o600); err != nil {
		s.Fatal(err)
	}
	return !succeeds(s.T, dir, "test", "rules", "t.yml")
}

// TestSilentTrap is the failure that hurts most: SEND_OK, and the message never comes. It must not stay
// unseen, and what is overdue is delivered when the scheduler goes on.
func TestSilentTrap(t *testing.T) {
	if peer.TargetKind() != peer.Ours {
		t.Skip("the real broker has no fault rules")
	}
	s := spring(t)
	c := wire.Dial(t, s.BrokerAddr())
	defer c.Close()
	c.MustCreateTopic(t, topic, 1)
	if status, body := s.get("/health"); status != http.StatusOK || s.gauge("rocketmq_schedule_service_status") != 1 {
		t.Fatalf("before: %d %s", status, body)
	}
	f, err := s.Control().AddFault(fault.Rule{SchedulerStalled: true})
	if err != nil {
		t.Fatal(err)
	}
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("level"), Properties: wire.Properties("DELAY", "1")})
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("timer"), Properties: wire.Properties("TIMER_DELAY_MS", "1000")})

	// One second until they are due, two more until they are overdue, at most two more until that is shown.
	suite.Eventually(t, limit, "the watchdog tells", func() bool {
		return s.gauge("rocketmq_delay_overdue", "schedule") == 1 && s.gauge("rocketmq_delay_overdue", "timers") == 1
	})
	for _, path := range []string{"/health", "/actuator/health"} {
		status, body := s.get(path)
		if status != http.StatusServiceUnavailable || !strings.Contains(body, "due messages are withheld by fault rule") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	for _, name := range []string{"rocketmq_schedule_service_status", "rocketmq_timer_service_status"} {
		if got := s.gauge(name); got != 0 {
			t.Errorf("%s is %v", name, got)
		}
	}
	if lag, pending := s.gauge("rocketmq_delay_queue_lag", "0"), s.gauge("rocketmq_delay_pending", "0"); lag != 1 || pending != 1 {
		t.Errorf("lag %v, pending %v", lag, pending)
	}
	suite.Eventually(t, limit, "one message of a level pends for the topic", func() bool {
		_, text := s.get("/metrics")
		return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
			return strings.HasPrefix(line, "rocketmq_delay_topic_pending{") && strings.HasSuffix(line, `topic="`+topic+`"} 1`)
		})
	})
	for _, text := range []string{"due messages are withheld", "due timer messages are withheld", "delayed messages are past due and not delivered"} {
		if !s.log.has(text) {
			t.Errorf("the log does not say %q", text)
		}
	}
	for _, name := range []string{wire.ScheduleTopic, wire.TimerTopic} {
		if got := backlog(t, c, name); got != 1 {
			t.Errorf("topicStatus shows %d messages of %s", got, name)
		}
	}
	if hasPromtool() {
		for _, alert := range []string{"RocketMQ_DelayServiceDown", "WheelMQ_DelayedMessagesOverdue"} {
			if !s.fires(alert) {
				t.Errorf("%s does not fire", alert)
			}
		}
	}

	f.Remove()
	c.Settle(t, topic, 0, 2)
	suite.Eventually(t, limit, "all is well", func() bool {
		status, _ := s.get("/health")
		return status == http.StatusOK && s.gauge("rocketmq_delay_overdue", "schedule") == 0 && s.gauge("rocketmq_delay_overdue", "timers") == 0
	})
	if s.gauge("rocketmq_schedule_service_status") != 1 || s.gauge("rocketmq_delay_queue_lag", "0") != 0 {
		t.Error("the metrics do not tell that it is over")
	}
	if hasPromtool() && s.fires("RocketMQ_DelayServiceDown") {
		t.Error("the alert fires still")
	}
}
