package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// clockTick is the unit of utime and stime in /proc/<pid>/stat on Linux.
const clockTick = 10 * time.Millisecond

// The fields of /proc/<pid>/stat behind the command's name, from 0.
const (
	majorFaultsField = 9
	userField        = 11
	systemField      = 12
)

// cpuTime is the user and system time that the processes have used.
func cpuTime(tb testing.TB, pids []int) time.Duration {
	tb.Helper()
	return time.Duration(statFields(tb, pids, userField, systemField)) * clockTick
}

// threadTimes is the user and system time of the threads of the processes, by the first 15
// characters of their names. It counts no thread that has ended.
func threadTimes(tb testing.TB, pids []int) map[string]time.Duration {
	tb.Helper()
	times := make(map[string]time.Duration)
	for _, pid := range pids {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		if err != nil {
			tb.Fatal(err)
		}
		for _, thread := range threads {
			name, err := os.ReadFile(filepath.Join(thread, "comm"))
			if err != nil {
				continue // it ended meanwhile
			}
			ticks := statFile(tb, filepath.Join(thread, "stat"), userField, systemField)
			times[strings.TrimSpace(string(name))] += time.Duration(ticks) * clockTick
		}
	}
	return times
}

// majorFaults is how often the processes waited for a page to be read from disk.
func majorFaults(tb testing.TB, pids []int) int64 {
	tb.Helper()
	return statFields(tb, pids, majorFaultsField)
}

// statFields is the sum of fields of /proc/<pid>/stat.
func statFields(tb testing.TB, pids []int, wanted ...int) (total int64) {
	tb.Helper()
	for _, pid := range pids {
		total += statFile(tb, fmt.Sprintf("/proc/%d/stat", pid), wanted...)
	}
	return total
}

// statFile is the sum of fields of a file of this form.
func statFile(tb testing.TB, name string, wanted ...int) (total int64) {
	tb.Helper()
	stat, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	// The command name, in parentheses, may hold blanks.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, i := range wanted {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		total += n
	}
	return total
}

// writtenBytes is what the processes had written to disk, bytes: pages of mapped files that became
// dirty count as well as write(2).
func writtenBytes(tb testing.TB, pids []int) int64 {
	tb.Helper()
	return ioBytes(tb, pids, "write_bytes: ")
}

// readBytes is what the processes had read from disk, bytes, by mapped files too.
func readBytes(tb testing.TB, pids []int) int64 {
	tb.Helper()
	return ioBytes(tb, pids, "read_bytes: ")
}

// ioBytes is the sum of a line of /proc/<pid>/io.
func ioBytes(tb testing.TB, pids []int, name string) (total int64) {
	tb.Helper()
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
		if err != nil {
			tb.Fatal(err)
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			rest, ok := strings.CutPrefix(line, name)
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
