package wheelmq_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/client"
	"github.com/wheelmq/wheelmq/store"
)

func TestMain(m *testing.M) {
	// gnet shares one pool of workers between all engines of a process and never ends it.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/panjf2000/ants/v2.(*poolCommon).purgeStaleWorkers"),
		goleak.IgnoreAnyFunction("github.com/panjf2000/ants/v2.(*poolCommon).ticktock"))
}

func start(t *testing.T, dir string, set ...string) *wheelmq.Instance {
	t.Helper()
	cfg := config.Default()
	cfg.ListenPort, cfg.NamesrvListenPort, cfg.HTTPPort, cfg.BindAddress, cfg.StorePathRootDir = 0, 0, 0, "127.0.0.1", dir
	for _, assignment := range set {
		if _, err := cfg.Set(assignment); err != nil {
			t.Fatal(err)
		}
	}
	log := logrus.New()
	log.SetOutput(io.Discard)
	i, err := wheelmq.Start(t.Context(), wheelmq.Config{Config: cfg, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func call(t *testing.T, addr string, code int32, fields map[string]string, body string) *remoting.Command {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	c, err := client.Dial(ctx, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var ext remoting.ExtWriter
	for key, value := range fields {
		ext.String(key, value)
	}
	reply, err := c.Call(ctx, code, &ext, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func TestInstance_ServesAndKeepsWhatItAcknowledged(t *testing.T) {
	dir := t.TempDir()
	i := start(t, dir)
	call(t, i.BrokerAddr(), remoting.SendMessageV2, map[string]string{
		"a": "P", "b": "T", "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "1", "h": "0", "i": "", "j": "0", "k": "false", "m": "false",
	}, "hello")
	route := call(t, i.NameServerAddr(), remoting.GetRouteInfoByTopic, map[string]string{"topic": "T"}, "")
	if !strings.Contains(string(route.Body), i.BrokerAddr()) {
		t.Errorf("the route %s does not name %s", route.Body, i.BrokerAddr())
	}
	if report := i.Health(); report.State != health.Up {
		t.Errorf("health %+v", report)
	}
	if err := i.Close(context.Background()); err != nil {
		t.Fatal(err)
	}

	i = start(t, dir)
	reply := call(t, i.BrokerAddr(), remoting.GetMaxOffset, map[string]string{"topic": "T", "queueId": "0"}, "")
	if got, _ := reply.Ext.Get("offset"); string(got) != "1" {
		t.Errorf("after a restart the queue ends at %s, want 1", got)
	}
	if err := i.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestInstances_LiveBesideEachOther(t *testing.T) {
	var list []*wheelmq.Instance
	for range 5 {
		list = append(list, start(t, t.TempDir()))
	}
	for _, i := range list {
		if err := i.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

func TestConsole_SaysThatTheSchedulerIsOff(t *testing.T) {
	i := start(t, t.TempDir(), "scheduleMessageEnable=false")
	defer func() {
		if err := i.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	transport := &http.Transport{DisableKeepAlives: true}
	get := func(path string) []byte {
		reply, err := (&http.Client{Transport: transport}).Get("http://" + i.HTTPAddr() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		body, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	var report health.Report
	if err := json.Unmarshal(get("/health"), &report); err != nil {
		t.Fatal(err)
	}
	if part := report.Parts["schedule"]; part.State != health.Degraded || !strings.Contains(part.Reason, "scheduleMessageEnable") {
		t.Errorf("health of the scheduler: %+v", part)
	}
	const off = `rocketmq_schedule_service_status{cluster="DefaultCluster",node_id="broker-a",node_type="broker",otel_scope_name="broker-meter"} 0`
	if metrics := string(get("/metrics")); !strings.Contains(metrics, off) {
		t.Error("the metrics do not show that the scheduler is off")
	}
}

func TestStart_SaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	i := start(t, dir)
	defer func() {
		if err := i.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	log := logrus.New()
	log.SetOutput(io.Discard)
	for want, change := range map[string]func(*config.Config){
		"in use":            func(c *config.Config) { c.StorePathRootDir = dir },
		"messageDelayLevel": func(c *config.Config) { c.MessageDelayLevel = "1s 5x" },
		"brokerIP1":         func(c *config.Config) { c.BrokerIP1 = "somewhere" },
		"profile":           func(c *config.Config) { c.Profile = "4.0" },
		"is a file, want a directory": func(c *config.Config) {
			c.StorePathRootDir, c.NamesrvListenPort = filepath.Join(dir, "lock"), 1
		},
		"storePathCommitLog": func(c *config.Config) { c.StorePathCommitLog = filepath.Join(dir, "commitlog") },
	} {
		cfg := config.Default()
		cfg.ListenPort, cfg.NamesrvListenPort, cfg.HTTPPort, cfg.BindAddress, cfg.StorePathRootDir = 0, 0, 0, "127.0.0.1", t.TempDir()
		change(cfg)
		if other, err := wheelmq.Start(t.Context(), wheelmq.Config{Config: cfg, Log: log}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not name %q", err, want)
			if err == nil {
				_ = other.Close(context.Background())
			}
		}
	}
}

// TestStart_PendingTimers_AreNotLostSilently opens a store in which timers of the real broker wait:
// health tells it when nobody delivers them, and else they are taken over; what cannot be delivered
// is parked.
func TestStart_PendingTimers_AreNotLostSilently(t *testing.T) {
	dir := t.TempDir()
	fillWithTimers(t, dir, 3)
	parked := filepath.Join(dir, "consumequeue", message.TopicParked)
	i := start(t, dir, "timerWheelEnable=false")
	if part := i.Health().Parts["timers"]; part.State != health.Degraded || !strings.Contains(part.Reason, "3 pending timer messages") {
		t.Errorf("health of the timers: %+v", part)
	}
	if err := i.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(parked); err == nil {
		t.Error("timers were parked, which are another's")
	}
	i = start(t, dir)
	await.Until(t, "the timers are parked", func() bool {
		_, err := os.Stat(parked)
		return err == nil
	})
	if err := i.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func fillWithTimers(t *testing.T, dir string, n int) {
	t.Helper()
	log := logrus.New()
	log.SetOutput(io.Discard)
	s, err := store.Open(store.Options{
		Dir: dir, Clock: clock.Real{}, Log: log, TagsCode: func(string, []byte) int64 { return 0 },
		CommitLogFileSize: 5 << 20, StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	for range n {
		rec := message.Record{
			Topic: message.TopicTimer, Body: []byte("x"), BornHost: netip.MustParseAddrPort("127.0.0.1:5"),
			Properties: message.PropertyAppend(nil, "TIMER_OUT_MS", "1796000000000"),
		}
		if res, _ := s.Put(&rec, nil); !res.OK() {
			t.Fatal(res)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// Every real broker since 5.0 writes it.
	if err := os.WriteFile(filepath.Join(dir, "config", "timercheck"), make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
}
