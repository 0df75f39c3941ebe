package peer

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"
)

// TestPeer_StartRestartKill shows the whole life of a real RocketMQ: it is the
// oracle of every other suite, so its own handling is tested first.
func TestPeer_StartRestartKill(t *testing.T) {
	RequireJava(t)
	t.Parallel()
	begin := time.Now()
	p, err := Start(t.Context(), Options{Broker: map[string]string{"brokerName": "broker-x"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("start: %v", time.Since(begin))
	stopped := false
	t.Cleanup(func() {
		if !stopped {
			p.Kill()
			if err := p.removeDir(); err != nil {
				t.Error(err)
			}
		}
	})

	out, errOut, exit, err := MQAdmin(t.Context(), "clusterList", "-n", p.NameServerAddr)
	if err != nil || exit != 0 {
		t.Fatalf("clusterList: exit %d, %v\n%s", exit, err, errOut)
	}
	for _, want := range []string{"broker-x", p.BrokerAddr, "V5_5_0"} {
		if !strings.Contains(out, want) {
			t.Errorf("clusterList does not show %q:\n%s", want, out)
		}
	}

	pid := p.BrokerPID
	begin = time.Now()
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("restart: %v", time.Since(begin))
	if p.BrokerPID == pid {
		t.Errorf("broker pid is still %d after a restart", pid)
	}
	p.Kill()
	if err := probeSend(t.Context(), p.BrokerAddr); err == nil {
		t.Error("a send was accepted after Kill")
	}
	begin = time.Now()
	if err := p.Launch(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("start after kill: %v", time.Since(begin))
	begin = time.Now()
	stopped = true
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Logf("stop: %v", time.Since(begin))
	if _, err := os.Stat(p.Dir); !os.IsNotExist(err) {
		t.Errorf("home %s after Stop: %v, want it removed", p.Dir, err)
	}
}

// TestStart_BadConfiguration_SaysWhy wants the broker's own words in the error.
func TestStart_BadConfiguration_SaysWhy(t *testing.T) {
	RequireJava(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	p, err := Start(ctx, Options{Broker: map[string]string{"brokerClusterName": "DefaultCluster", "brokerIP1": "127.0.0.1", "storePathRootDir": "/dev/null/store"}})
	if err == nil {
		_ = p.Stop()
		t.Fatal("a broker whose store cannot be made started")
	}
	if !strings.Contains(err.Error(), "ended while starting") {
		t.Errorf("error does not say that the broker ended: %v", err)
	}
}
