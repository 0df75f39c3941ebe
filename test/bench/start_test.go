package bench

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestStart prints the time from exec to the first accepted send on an empty store, and the
// idle anonymous memory, of the shipped binary.
func TestStart(t *testing.T) {
	requireBench(t)
	bin, err := peer.Binary()
	if err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	var idle int64
	for range 7 {
		d, rss := startOnce(t, bin)
		took, idle = append(took, d), max(idle, rss)
	}
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	fmt.Printf("\nexec to first accepted send, 7 starts: min %v, median %v, max %v; idle RssAnon at most %.1f MiB\n",
		took[0].Round(time.Millisecond), took[3].Round(time.Millisecond), took[6].Round(time.Millisecond), float64(idle)/(1<<20))
}

func startOnce(t *testing.T, bin string) (time.Duration, int64) {
	t.Helper()
	port, err := peer.FreeBrokerPort()
	if err != nil {
		t.Fatal(err)
	}
	namesrv, err := peer.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(bin, "serve", "--bind", peer.Loopback, "--listen-port", strconv.Itoa(port),
		"--namesrv-port", strconv.Itoa(namesrv), "--http-port", "0", "--store", filepath.Join(dir, "store"))
	cmd.Dir = dir
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		if _, err := peer.Send(ctx, peer.Address(port), "StartTopic", 0, wire.Properties("WAIT", "true"), []byte("first")); err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("no send was accepted within 30 s")
		}
		time.Sleep(time.Millisecond)
	}
	took := time.Since(start)
	time.Sleep(time.Second)
	return took, rssAnon(t, []int{cmd.Process.Pid})
}
