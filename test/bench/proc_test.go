package bench

import (
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

// writtenBytes is what the processes had written to disk, bytes: pages of mapped files that became
// dirty count as well as write(2).
func writtenBytes(tb testing.TB, pids []int) (total int64) {
	tb.Helper()
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
		if err != nil {
			tb.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			rest, ok := strings.CutPrefix(line, "write_bytes: ")
			if !ok {
				continue
			}
			n, err := strconv.ParseInt(rest, 10, 64)
			if err != nil {
				tb.Fatal(err)
			}
			total += n
		}
	}
	return total
}

// rssAnon is the anonymous memory of the processes, bytes: what mapped files use of the
// page cache is not the server's memory.
func rssAnon(tb testing.TB, pids []int) int64 {
	tb.Helper()
	total := anonOf(pids)
	if total == 0 {
		tb.Fatalf("processes %v have no RssAnon", pids)
	}
	return total
}
