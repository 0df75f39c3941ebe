package bench

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestJavaSyncSend prints what synchronous sends of the official Java client cost either
// server, by number of threads and by how the log is flushed.
func TestJavaSyncSend(t *testing.T) {
	requireBench(t)
	peer.RequireJava(t)
	project, err := peer.BuildMaven(t.Context(), "../java")
	if err != nil {
		t.Fatal(err)
	}
	for _, flush := range []string{"ASYNC_FLUSH", "SYNC_FLUSH"} {
		servers := bothServers(t, map[string]string{"flushDiskType": flush})
		messages := envInt("WHEELMQ_BENCH_JAVA_MESSAGES", 30_000)
		fmt.Printf("\n| Java sync send, 128 B, %s | server | CPU µs/msg | msg/s | p50 µs | p99 µs | syncs/msg |\n|---|---|---|---|---|---|---|\n", flush)
		for _, threads := range []int{1, 16, 64} {
			n := messages
			if flush == "SYNC_FLUSH" && threads == 1 {
				n /= 5 // each waits for the disk
			}
			for _, target := range servers {
				// Once to warm the server up.
				javaSend(t, project.Classpath, target, threads, n/4)
				r := javaSend(t, project.Classpath, target, threads, n)
				fmt.Printf("| %d threads | %s | %.1f | %.0f | %s | %s | %s |\n",
					threads, target.Kind, r.perMessage(), r.rate(), r.p50, r.p99, r.syncs)
			}
		}
	}
}

// javaSample is what a Java client saw.
type javaSample struct {
	sample
	p50, p99 string // µs
	syncs    string // of our log to disk, per message
}

func javaSend(t *testing.T, classpath string, target *peer.Target, threads, messages int) javaSample {
	t.Helper()
	topic := "JavaSync"
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	c.MustCreateTopic(t, topic, conns)

	cmd := exec.CommandContext(t.Context(), "java", "-Xmx512m", "-cp", classpath,
		"com.github.wheelmq.clienttest.SyncSend", target.NameServerAddr, topic, strconv.Itoa(threads), strconv.Itoa(messages))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "READY" {
	}
	r := javaSample{sample: sample{messages: messages}, syncs: "–"}
	var syncs float64
	if target.Kind == peer.Ours {
		syncs = metric(t, target, "wheelmq_store_syncs_total")
	}
	before := cpuTime(t, target.PIDs())
	fmt.Fprintln(in)
	var nanos int64
	for lines.Scan() {
		var n int
		if _, err := fmt.Sscan(lines.Text(), &n, &nanos, &r.p50, &r.p99); err == nil && n == messages {
			break
		}
	}
	r.wall, r.cpu = time.Duration(nanos), cpuTime(t, target.PIDs())-before
	if target.Kind == peer.Ours {
		r.syncs = fmt.Sprintf("%.3f", (metric(t, target, "wheelmq_store_syncs_total")-syncs)/float64(messages))
	}
	_ = in.Close()
	if nanos == 0 {
		t.Fatalf("%s: the Java client reported nothing", target.Kind)
	}
	return r
}
