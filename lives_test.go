package wheelmq_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/fault"
	"github.com/wheelmq/wheelmq/remoting"
)

// inMemory starts an instance whose store is in memory.
func inMemory(t *testing.T, set ...string) *wheelmq.Instance {
	t.Helper()
	return startTest(t, &wheelmq.TestConfig{Memory: true}, set...)
}

func startTest(t *testing.T, test *wheelmq.TestConfig, set ...string) *wheelmq.Instance {
	t.Helper()
	cfg := config.Default()
	cfg.ListenPort, cfg.NamesrvListenPort, cfg.HTTPPort, cfg.BindAddress = 0, 0, 0, "127.0.0.1"
	for _, assignment := range set {
		if _, err := cfg.Set(assignment); err != nil {
			t.Fatal(err)
		}
	}
	log := logrus.New()
	log.SetOutput(io.Discard)
	i, err := wheelmq.Start(context.Background(), wheelmq.Config{Config: cfg, Log: log, Test: test})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return i
}

func sendTo(t *testing.T, i *wheelmq.Instance, body string) {
	t.Helper()
	reply := call(t, i.BrokerAddr(), remoting.SendMessageV2, map[string]string{
		"a": "P", "b": "T", "c": "TBW102", "d": "1", "e": "0", "f": "0", "g": "1800000000000", "h": "0", "i": "", "j": "0", "k": "false",
	}, body)
	if reply.Code != remoting.Success {
		t.Fatalf("send: %d %s", reply.Code, reply.Remark)
	}
}

func stored(t *testing.T, i *wheelmq.Instance) int {
	t.Helper()
	reply := call(t, i.BrokerAddr(), remoting.GetMaxOffset, map[string]string{"topic": "T", "queueId": "0"}, "")
	text, _ := reply.Ext.Get("offset")
	n, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatalf("end of the queue: %d %s", reply.Code, reply.Remark)
	}
	return n
}

func TestInMemory_OneLifeAfterTheOther(t *testing.T) {
	ctx := context.Background()
	i := inMemory(t, "flushDiskType=SYNC_FLUSH")
	broker, namesrv := i.BrokerAddr(), i.NameServerAddr()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if i.BrokerAddr() != broker || i.NameServerAddr() != namesrv {
			t.Fatalf("%s: the addresses changed", what)
		}
	}
	sendTo(t, i, "1")
	must("restart", i.Restart(ctx))
	if got := stored(t, i); got != 1 {
		t.Errorf("%d messages after a restart, want 1", got)
	}
	sendTo(t, i, "2")
	must("kill", i.Kill(ctx))
	if got := stored(t, i); got != 2 {
		t.Errorf("%d messages after a kill, want 2: each was durable when it was acknowledged", got)
	}
	must("snapshot", i.Snapshot(ctx, "two"))
	sendTo(t, i, "3")
	for range 2 {
		must("restore", i.Restore(ctx, "two"))
		if got := stored(t, i); got != 2 {
			t.Errorf("%d messages after restoring two", got)
		}
		sendTo(t, i, "another third")
	}
	must("reset", i.Reset(ctx))
	sendTo(t, i, "1")
	if got := stored(t, i); got != 1 {
		t.Errorf("%d messages after a reset and a send", got)
	}
	if err := i.Restore(ctx, "none"); err == nil {
		t.Error("what was never kept was restored")
	}
}

func TestInMemory_KillLosesWhatWasNotDurable(t *testing.T) {
	ctx := context.Background()
	i := inMemory(t, "flushIntervalCommitLog=3600000", "flushCommitLogThoroughInterval=3600000")
	sendTo(t, i, "1")
	if err := i.Snapshot(ctx, "made durable"); err != nil {
		t.Fatal(err)
	}
	sendTo(t, i, "2")
	if err := i.Kill(ctx); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, i); got != 1 {
		t.Errorf("%d messages after a kill, want the one that was durable", got)
	}
}

// TestOnDisk_KillIsNoCleanEnd looks at what a clean end would have saved.
func TestOnDisk_KillIsNoCleanEnd(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	i := startTest(t, &wheelmq.TestConfig{}, "storePathRootDir="+dir)
	sendTo(t, i, "1")
	commit := map[string]string{"consumerGroup": "G", "topic": "T", "queueId": "0", "commitOffset": "1"}
	if err := i.Kill(ctx); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, i); got != 1 {
		t.Errorf("%d messages after a kill, want 1: the machine kept it", got)
	}
	if err := i.Control().CreateGroup(ctx, "G", 1); err != nil {
		t.Fatal(err)
	}
	// An offset is saved half a second later by itself, which a slow machine may need for the kill.
	for range 5 {
		if reply := call(t, i.BrokerAddr(), remoting.UpdateConsumerOffset, commit, ""); reply.Code != remoting.Success {
			t.Fatalf("commit: %d %s", reply.Code, reply.Remark)
		}
		if err := i.Kill(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "config", "consumerOffset.json")); err != nil {
			return
		}
		if err := os.Remove(filepath.Join(dir, "config", "consumerOffset.json")); err != nil {
			t.Fatal(err)
		}
	}
	t.Error("a killed server saved the offset that was committed just before")
}

func TestInMemory_ResetAndRestoreOfABrokenServer(t *testing.T) {
	ctx := context.Background()
	i := inMemory(t)
	sendTo(t, i, "kept")
	if err := i.Snapshot(ctx, "kept"); err != nil {
		t.Fatal(err)
	}
	for name, repair := range map[string]func(context.Context) error{
		"kept": func(ctx context.Context) error {
			i.Control().Faults()[0].Remove()
			return i.Restore(ctx, "kept")
		},
		"": i.Reset,
	} {
		sendTo(t, i, "dropped")
		if _, err := i.Control().AddFault(fault.Rule{FsyncFails: true}); err != nil {
			t.Fatal(err)
		}
		if err := i.Restart(ctx); err == nil {
			t.Fatal("a server started on a disk that fails")
		}
		if err := repair(ctx); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if rules := i.Control().Faults(); len(rules) != 0 {
			t.Errorf("%q: rules in force: %v", name, rules)
		}
		if got := i.Control().Stored("T"); got != int64(min(len(name), 1)) {
			t.Errorf("%q: %d messages are there", name, got)
		}
	}
}

func TestInMemory_LivesEndInManyGoroutines(t *testing.T) {
	i := inMemory(t)
	var all sync.WaitGroup
	for _, step := range []func(context.Context) error{
		i.Kill, i.Reset, i.Restart,
		func(ctx context.Context) error { return i.Snapshot(ctx, "any") },
	} {
		for range 2 {
			all.Go(func() {
				if err := step(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	sendTo(t, i, "x")
}
