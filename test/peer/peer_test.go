package peer

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTarget_Lifecycle takes the selected server through start, clean restart,
// kill and start again: every other suite relies on these.
func TestTarget_Lifecycle(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	target := StartTarget(t, map[string]string{"brokerName": "broker-x"})
	t.Logf("%s: start in %v", target.Kind, time.Since(begin))
	first := mustSend(t, target)

	pids := target.PIDs()
	begin = time.Now()
	target.Restart()
	t.Logf("%s: clean stop and start in %v", target.Kind, time.Since(begin))
	for _, pid := range target.PIDs() {
		if slices.Contains(pids, pid) {
			t.Errorf("process %d is still the same after a restart", pid)
		}
	}
	second := mustSend(t, target)
	if second <= first {
		t.Errorf("offset id %s after a restart, %s before: the store began anew", second, first)
	}

	target.Kill()
	if err := probeSend(t.Context(), target.BrokerAddr); err == nil {
		t.Error("a send was accepted after Kill")
	}
	begin = time.Now()
	target.Launch()
	t.Logf("%s: start after a kill in %v", target.Kind, time.Since(begin))
	if third := mustSend(t, target); third <= second {
		t.Errorf("offset id %s after a kill, %s before: the store began anew", third, second)
	}
	target.Stop()
}

func mustSend(t *testing.T, target *Target) string {
	t.Helper()
	id, err := Send(t.Context(), target.BrokerAddr, probeTopic, 0, "", []byte("lifecycle"))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestMQAdmin_OneShot runs mqadmin as its script does, in a JVM of its own.
func TestMQAdmin_OneShot(t *testing.T) {
	RequireJava(t)
	t.Parallel()
	target := StartTarget(t, map[string]string{"brokerName": "broker-y", "brokerClusterName": "Other"})
	out, errOut, exit, err := MQAdmin(t.Context(), "clusterList", "-n", target.NameServerAddr)
	if err != nil || exit != 0 {
		t.Fatalf("clusterList: exit %d, %v\n%s", exit, err, errOut)
	}
	for _, want := range []string{"Other", "broker-y", target.BrokerAddr, "V5_5_0"} {
		if !strings.Contains(out, want) {
			t.Errorf("clusterList does not show %q:\n%s", want, out)
		}
	}
}

// TestStart_BadConfiguration_SaysWhy wants an error as soon as the JVM has
// ended, not a timeout.
func TestStart_BadConfiguration_SaysWhy(t *testing.T) {
	if TargetKind() != Real {
		t.Skipf("is about the real RocketMQ: set %s=%s", targetEnv, Real)
	}
	RequireJava(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	p, err := Start(ctx, Options{Broker: map[string]string{"storePathRootDir": "/dev/null/store"}})
	if err == nil {
		_ = p.Stop()
		t.Fatal("a broker whose store cannot be made started")
	}
	if !strings.Contains(err.Error(), "ended while starting") {
		t.Errorf("error does not say that the broker ended: %v", err)
	}
}
