package bench

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
)

// peakMemory notes the highest RssAnon of a server.
type peakMemory struct {
	max  atomic.Int64 // bytes
	end  func()       // stops it; may be called again
	done chan struct{}
}

func watchMemory(target *peer.Target) *peakMemory {
	p := &peakMemory{done: make(chan struct{})}
	p.end = sync.OnceFunc(func() { close(p.done) })
	pids := target.PIDs()
	go func() {
		for {
			p.max.Store(max(p.max.Load(), anonOf(pids)))
			select {
			case <-time.After(200 * time.Millisecond):
			case <-p.done:
				return
			}
		}
	}()
	return p
}

// anonOf is the anonymous memory of processes, bytes; one that has ended has none.
func anonOf(pids []int) (total int64) {
	for _, pid := range pids {
		status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(status), "RssAnon:")
		line, _, _ := strings.Cut(rest, "\n")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		kib, err := strconv.ParseInt(fields[0], 10, 64)
		if err == nil {
			total += kib << 10
		}
	}
	return total
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
