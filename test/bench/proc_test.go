package bench

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// clockTick is the unit of utime and stime in /proc/<pid>/stat on Linux.
const clockTick = 10 * time.Millisecond

// cpuTime is the user and system time that the processes have used.
func cpuTime(tb testing.TB, pids []int) time.Duration {
	tb.Helper()
	var total time.Duration
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			tb.Fatal(err)
		}
		// The command name, in parentheses, may hold blanks.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		for _, i := range []int{11, 12} {
			ticks, err := strconv.ParseInt(fields[i], 10, 64)
			if err != nil {
				tb.Fatal(err)
			}
			total += time.Duration(ticks) * clockTick
		}
	}
	return total
}

// rssAnon is the anonymous memory of the processes, bytes: what mapped files use of the
// page cache is not the server's memory.
func rssAnon(tb testing.TB, pids []int) int64 {
	tb.Helper()
	var total int64
	for _, pid := range pids {
		f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			tb.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), "RssAnon:"); ok {
				kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				if err != nil {
					tb.Fatal(err)
				}
				total += kib << 10
			}
		}
		f.Close()
	}
	return total
}
