package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

const proxyMain = "org.apache.rocketmq.proxy.ProxyStartup"

// proxyJVM are the JVM flags of a proxy in a functional test.
var proxyJVM = []string{
	"-Xms128m", "-Xmx512m", "-XX:MaxDirectMemorySize=512m",
	"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
}

// Proxy is the real RocketMQ 5.5.0 proxy in cluster mode in front of a Target.
type Proxy struct {
	// GRPCAddr and RemotingAddr are host:port.
	GRPCAddr, RemotingAddr string

	proc *process
}

// StartProxy starts the proxy with the given keys of rmq-proxy.json beside those that a test needs,
// and stops it when the test ends.
func StartProxy(tb testing.TB, target *Target, conf map[string]any) *Proxy {
	tb.Helper()
	RequireJava(tb)
	project, err := BuildMaven(tb.Context(), filepath.Join(sourceDir(), "proxy"))
	if err != nil {
		tb.Fatal(err)
	}
	p := new(Proxy)
	tb.Cleanup(func() {
		if p.proc == nil {
			return
		}
		if tb.Failed() {
			tb.Logf("end of the proxy's output:\n%s", withoutLogging(p.proc.log.tail()))
		}
		// A clean stop takes as long as the slowest client and proves nothing about us.
		p.proc.kill()
	})
	for try := 1; ; try++ {
		err := p.launch(tb, project.Classpath, target, conf)
		if err == nil {
			return p
		}
		// It waits 3 s for the broker's answers, and ends when a slow machine does not let it have them.
		if try == proxyTries || !p.hasEnded() {
			tb.Fatal(err)
		}
		tb.Logf("started anew: %v", err)
	}
}

// proxyTries bounds the starts of a proxy that ended while starting.
const proxyTries = 3

// launch starts the proxy and waits until it serves.
func (p *Proxy) launch(tb testing.TB, classpath string, target *Target, conf map[string]any) error {
	if err := p.start(HomeDir(tb), classpath, target, conf); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(tb.Context(), startTimeout)
	defer cancel()
	return p.proc.waitReady(ctx, p.accepts)
}

// hasEnded tells whether the process has ended by itself.
func (p *Proxy) hasEnded() bool { return p.proc != nil && p.Alive() != nil }

func (p *Proxy) start(dir, classpath string, target *Target, conf map[string]any) error {
	grpc, err := FreePort()
	if err != nil {
		return err
	}
	remoting, err := FreePort()
	if err != nil {
		return err
	}
	p.GRPCAddr, p.RemotingAddr = Address(grpc), Address(remoting)
	keys := map[string]any{
		"proxyMode": "CLUSTER", "rocketMQClusterName": "DefaultCluster", "namesrvAddr": target.NameServerAddr,
		"grpcServerPort": grpc, "remotingListenPort": remoting, "localServeAddr": Loopback,
		"enablePrintJstack": false,
	}
	maps.Copy(keys, conf)
	body, err := json.Marshal(keys)
	if err != nil {
		return fmt.Errorf("peer: configuration of the proxy: %w", err)
	}
	file := filepath.Join(dir, "rmq-proxy.json")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		return fmt.Errorf("peer: configuration of the proxy: %w", err)
	}
	cmd := exec.Command("java", slices.Concat(proxyJVM, jvmOpens, []string{
		"-Duser.home=" + dir, "-cp", classpath, proxyMain, "-pc", file,
	})...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "RMQ_PROXY_HOME="+dir, "ROCKETMQ_HOME="+dir, "NAMESRV_ADDR=")
	p.proc, err = startProcess("proxy", cmd, "")
	return err
}

// accepts tells whether both ports are open.
func (p *Proxy) accepts(ctx context.Context) error {
	for _, addr := range []string{p.GRPCAddr, p.RemotingAddr} {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err != nil {
			return err
		}
		conn.Close()
	}
	return nil
}

// Alive returns an error when the proxy has ended by itself.
func (p *Proxy) Alive() error {
	select {
	case <-p.proc.done:
		return fmt.Errorf("peer: the proxy has ended (%v)\n%s", p.proc.err, p.proc.log.tail())
	default:
		return nil
	}
}
