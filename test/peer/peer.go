package peer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// startTimeout bounds a start: five seconds on an idle machine, minutes on a very busy one.
const startTimeout = 300 * time.Second

const (
	namesrvMain = "org.apache.rocketmq.namesrv.NamesrvStartup"
	brokerMain  = "org.apache.rocketmq.broker.BrokerStartup"
)

// jvmOpens are the packages that RocketMQ's store reaches into on Java 9 and
// later; its own start scripts open the same.
var jvmOpens = []string{
	"--add-opens=java.base/java.nio=ALL-UNNAMED",
	"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
	"--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
}

// DefaultBrokerJVM are the JVM flags of a broker in a functional test: a small
// heap and a compiler that favours start time. A benchmark passes its own.
var DefaultBrokerJVM = []string{
	"-Xms256m", "-Xmx512m", "-XX:MaxDirectMemorySize=512m",
	"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
}

// ProductionBrokerJVM are the flags of RocketMQ's own start script (both compilers, G1), with
// a heap that leaves room for the page cache of a small machine.
var ProductionBrokerJVM = []string{
	"-server", "-Xms2g", "-Xmx2g", "-XX:+UseG1GC", "-XX:G1HeapRegionSize=16m", "-XX:G1ReservePercent=25",
	"-XX:InitiatingHeapOccupancyPercent=30", "-XX:SoftRefLRUPolicyMSPerMB=0", "-XX:-OmitStackTraceInFastThrow",
	"-XX:MaxDirectMemorySize=4g", "-XX:-UseLargePages",
}

// defaultNamesrvJVM are the JVM flags of the name server.
var defaultNamesrvJVM = []string{
	"-Xms64m", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
}

// Options describe a real RocketMQ. The zero value is a broker with default
// configuration on free ports with a store that is removed at the end.
type Options struct {
	// Broker holds broker.conf keys; they win over the ones a test server needs, but for namesrvAddr,
	// which names further name servers.
	Broker map[string]string
	// Namesrv holds name-server configuration keys.
	Namesrv map[string]string
	// Dir is the home of both servers (store, logs, configuration). Empty means a
	// temporary directory that Stop removes.
	Dir string
	// ListenPort and NamesrvPort are the ports; 0 picks free ones.
	ListenPort, NamesrvPort int
	// BrokerJVM replaces DefaultBrokerJVM.
	BrokerJVM []string
}

// Peer is a running RocketMQ 5.5.0: one name server and one broker.
type Peer struct {
	// NameServerAddr and BrokerAddr are host:port on the loopback.
	NameServerAddr, BrokerAddr string
	// BrokerPID and NamesrvPID change with every Restart.
	BrokerPID, NamesrvPID int
	// Dir is the home of both servers; the store is in Dir/store.
	Dir string

	opts      Options
	classpath string
	ownsDir   bool
	namesrv   *process
	broker    *process
}

// Start runs a name server and a broker and returns when a send was accepted
// and the route is known. ctx bounds the start only; the servers run until Stop.
func Start(ctx context.Context, opts Options) (*Peer, error) {
	cp, err := Classpath(ctx)
	if err != nil {
		return nil, err
	}
	p := &Peer{opts: opts, classpath: cp, Dir: opts.Dir}
	if err := p.prepare(); err != nil {
		return nil, errors.Join(err, p.removeDir())
	}
	if err := p.launch(ctx); err != nil {
		p.Kill()
		return nil, errors.Join(err, p.removeDir())
	}
	return p, nil
}

// prepare picks directories and ports and writes the two configuration files.
func (p *Peer) prepare() (err error) {
	if p.Dir == "" {
		if p.Dir, err = os.MkdirTemp("", "rocketmq-peer-"); err != nil {
			return fmt.Errorf("peer: home directory: %w", err)
		}
		p.ownsDir = true
	}
	if p.opts.ListenPort, err = portOr(p.opts.ListenPort, FreeBrokerPort); err != nil {
		return err
	}
	if p.opts.NamesrvPort, err = portOr(p.opts.NamesrvPort, FreePort); err != nil {
		return err
	}
	p.BrokerAddr, p.NameServerAddr = Address(p.opts.ListenPort), Address(p.opts.NamesrvPort)

	namesrv := map[string]string{
		"listenPort":   strconv.Itoa(p.opts.NamesrvPort),
		"bindAddress":  Loopback,
		"rocketmqHome": p.Dir,
	}
	maps.Copy(namesrv, p.opts.Namesrv)
	broker := map[string]string{
		"brokerClusterName":       "DefaultCluster",
		"brokerName":              "broker-a",
		"brokerId":                "0",
		"brokerIP1":               Loopback,
		"bindAddress":             Loopback,
		"listenPort":              strconv.Itoa(p.opts.ListenPort),
		"namesrvAddr":             p.NameServerAddr,
		"rocketmqHome":            p.Dir,
		"storePathRootDir":        filepath.Join(p.Dir, "store"),
		"storePathCommitLog":      filepath.Join(p.Dir, "store", "commitlog"),
		"mappedFileSizeCommitLog": strconv.Itoa(64 << 20),
	}
	maps.Copy(broker, p.opts.Broker)
	if others := p.opts.Broker["namesrvAddr"]; others != "" {
		broker["namesrvAddr"] = p.NameServerAddr + ";" + others
	}
	return errors.Join(
		writeProperties(filepath.Join(p.Dir, "namesrv.conf"), namesrv),
		writeProperties(filepath.Join(p.Dir, "broker.conf"), broker))
}

// writeProperties writes a Java properties file. Non-ASCII values are not needed here.
func writeProperties(path string, values map[string]string) error {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "%s=%s\n", key, strings.ReplaceAll(values[key], `\`, `\\`))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("peer: write configuration: %w", err)
	}
	return nil
}

// launch starts the two JVMs on the prepared directory.
func (p *Peer) launch(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	jvm := p.opts.BrokerJVM
	if jvm == nil {
		jvm = DefaultBrokerJVM
	}
	p.namesrv, err = startProcess("name server",
		p.java(defaultNamesrvJVM, namesrvMain, "namesrv.conf"), "")
	if err != nil {
		return err
	}
	p.NamesrvPID = p.namesrv.pid()
	p.broker, err = startProcess("broker", p.java(jvm, brokerMain, "broker.conf"), "")
	if err != nil {
		return err
	}
	p.BrokerPID = p.broker.pid()
	err = p.broker.waitReady(ctx, func(ctx context.Context) error { return probeSend(ctx, p.BrokerAddr) })
	if err != nil {
		return err
	}
	return p.namesrv.waitReady(ctx, func(ctx context.Context) error { return probeRoute(ctx, p.NameServerAddr) })
}

// java is the command of one server. user.home is where it puts its logs.
func (p *Peer) java(jvm []string, main, conf string) *exec.Cmd {
	args := slices.Concat(jvm, jvmOpens, []string{
		"-Duser.home=" + p.Dir, "-cp", p.classpath, main, "-c", filepath.Join(p.Dir, conf),
	})
	cmd := exec.Command("java", args...)
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), "ROCKETMQ_HOME="+p.Dir, "NAMESRV_ADDR=")
	return cmd
}

// Restart stops both servers cleanly and starts them on the same store and ports.
func (p *Peer) Restart(ctx context.Context) error {
	if err := p.halt(); err != nil {
		return err
	}
	return p.launch(ctx)
}

// Launch starts both servers again after Kill.
func (p *Peer) Launch(ctx context.Context) error { return p.launch(ctx) }

// halt stops the broker first, so that it can still unregister.
func (p *Peer) halt() error {
	err := errors.Join(p.broker.stop(), p.namesrv.stop())
	p.broker, p.namesrv = nil, nil
	return err
}

// Stop ends both servers cleanly and removes a temporary home.
func (p *Peer) Stop() error { return errors.Join(p.halt(), p.removeDir()) }

// Kill ends both servers at once. The store stays for a later Launch; Stop
// removes it.
func (p *Peer) Kill() {
	p.broker.kill()
	p.namesrv.kill()
	p.broker, p.namesrv = nil, nil
}

func (p *Peer) removeDir() error {
	if !p.ownsDir {
		return nil
	}
	if err := os.RemoveAll(p.Dir); err != nil {
		return fmt.Errorf("peer: remove home: %w", err)
	}
	return nil
}
