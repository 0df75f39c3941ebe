package bench

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
)

// bothServers starts ours and, unless WHEELMQ_BENCH_PEER=0, the real one.
func bothServers(t *testing.T, conf map[string]string) []*peer.Target {
	t.Helper()
	servers := []*peer.Target{peer.StartForBenchmark(t, peer.Ours, conf)}
	if envInt("WHEELMQ_BENCH_PEER", 1) != 0 {
		servers = append(servers, peer.StartForBenchmark(t, peer.Real, conf))
	}
	return servers
}

// metric is the value of one of our server's metrics, or the first of several; name may end with labels as
// they are written behind those that all of a broker's metrics have.
func metric(t *testing.T, target *peer.Target, name string) float64 {
	t.Helper()
	reply, err := http.Get("http://" + target.HTTPAddr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		found, labels, _ := strings.Cut(name, "{")
		rest, ok := strings.CutPrefix(line, found+"{")
		if _, value, _ := strings.Cut(rest, "} "); ok && strings.Contains(rest, strings.TrimSuffix(labels, "}")) {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// warmMemory touches and frees memory right before a round. In a virtual machine the first
// touch of a page that the host does not back costs up to 17 µs, more than all that any
// server does for a message, and a balloon gives freed memory back within seconds.
func warmMemory(t *testing.T) {
	t.Helper()
	b, err := syscall.Mmap(-1, 0, envInt("WHEELMQ_BENCH_WARM_MIB", 512)<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(b); at += 4096 {
		b[at] = 1
	}
	if err := syscall.Munmap(b); err != nil {
		t.Fatal(err)
	}
}

// flushed waits for what a server does behind a round, so that its cost is counted: the flush
// of the log and the index follow within half a second on either server.
func flushed() { time.Sleep(700 * time.Millisecond) }
