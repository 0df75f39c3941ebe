package wheelmq_test

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/remoting"
)

// TestWallClockSteps_ChangeNoDelay steps the wall clock of an instance with a pending delayed
// message, while it runs and once more over a restart.
func TestWallClockSteps_ChangeNoDelay(t *testing.T) {
	for name, step := range map[string]time.Duration{
		"ten minutes ahead": 10 * time.Minute, "ten minutes back": -10 * time.Minute, "a day ahead": 24 * time.Hour, "a day back": -24 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stepped atomic.Int64
			dir := t.TempDir()
			run := func() *wheelmq.Instance {
				return startStepped(t, dir, func() time.Time { return time.Now().Add(time.Duration(stepped.Load())) })
			}
			i := run()
			began := time.Now()
			sendDelayed(t, i.BrokerAddr(), "1")
			sendDelayed(t, i.BrokerAddr(), "2")

			stepped.Store(int64(step))
			awaitDelivered(t, i.BrokerAddr(), 1)
			if waited := time.Since(began); waited < 2*time.Second {
				t.Errorf("a delay of 2 s ended after %v", waited)
			}
			if err := i.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			stepped.Store(2 * int64(step))
			i = run()
			awaitDelivered(t, i.BrokerAddr(), 2)
			if waited := time.Since(began); waited < 4*time.Second {
				t.Errorf("a delay of 4 s ended after %v", waited)
			}
			if err := i.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func startStepped(t *testing.T, dir string, wall func() time.Time) *wheelmq.Instance {
	t.Helper()
	cfg := config.Default()
	cfg.ListenPort, cfg.NamesrvListenPort, cfg.HTTPPort, cfg.BindAddress, cfg.StorePathRootDir = 0, 0, 0, "127.0.0.1", dir
	cfg.MessageDelayLevel = "2s 4s"
	log := logrus.New()
	log.SetOutput(io.Discard)
	start := wheelmq.Config{Config: cfg, Log: log}
	start.SetWall(wall)
	i, err := wheelmq.Start(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func sendDelayed(t *testing.T, addr, level string) {
	t.Helper()
	reply := call(t, addr, remoting.SendMessageV2, map[string]string{
		"a": "P", "b": "T", "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "1", "h": "0", "i": "DELAY\x01" + level + "\x02", "j": "0", "k": "false", "m": "false",
	}, "level "+level)
	if reply.Code != remoting.Success {
		t.Fatalf("send: code %d, %s", reply.Code, reply.Remark)
	}
}

// awaitDelivered waits until queue 0 of topic T ends at end. The limit is far from any delay and
// nearer than any step.
func awaitDelivered(t *testing.T, addr string, end int) {
	t.Helper()
	await.Until(t, fmt.Sprintf("%d messages are delivered", end), func() bool {
		reply := call(t, addr, remoting.GetMaxOffset, map[string]string{"topic": "T", "queueId": "0"}, "")
		got, _ := reply.Ext.Get("offset")
		return string(got) == string(rune('0'+end))
	})
}
