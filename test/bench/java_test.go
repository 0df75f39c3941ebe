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
// server, by number of threads.
func TestJavaSyncSend(t *testing.T) {
	requireBench(t)
	peer.RequireJava(t)
	project, err := peer.BuildMaven(t.Context(), "../java")
	if err != nil {
		t.Fatal(err)
	}
	servers := bothServers(t)
	messages := envInt("WHEELMQ_BENCH_JAVA_MESSAGES", 30_000)
	fmt.Printf("\n| Java sync send, 128 B | server | CPU µs/msg | msg/s | p50 µs | p99 µs |\n|---|---|---|---|---|---|\n")
	for _, threads := range []int{1, 16, 64} {
		for _, target := range servers {
			// Once to warm the server up.
			javaSend(t, project.Classpath, target, threads, messages/4)
			s, p50, p99 := javaSend(t, project.Classpath, target, threads, messages)
			fmt.Printf("| %d threads | %s | %.1f | %.0f | %s | %s |\n", threads, target.Kind, s.perMessage(), s.rate(), p50, p99)
		}
	}
}

func javaSend(t *testing.T, classpath string, target *peer.Target, threads, messages int) (sample, string, string) {
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
	before := cpuTime(t, target.PIDs())
	fmt.Fprintln(in)
	var p50, p99 string
	var nanos int64
	for lines.Scan() {
		var n int
		if _, err := fmt.Sscan(lines.Text(), &n, &nanos, &p50, &p99); err == nil && n == messages {
			break
		}
	}
	s := sample{messages: messages, wall: time.Duration(nanos), cpu: cpuTime(t, target.PIDs()) - before}
	_ = in.Close()
	if nanos == 0 {
		t.Fatalf("%s: the Java client reported nothing", target.Kind)
	}
	return s, p50, p99
}
