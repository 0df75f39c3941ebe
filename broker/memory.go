package broker

import "golang.org/x/sys/unix"

// hotRatio is the real broker's accessMessageInMemoryMaxRatio: how much of the machine's
// memory the end of the log is taken to fill, percent.
const hotRatio = 40

// hotBytes is how far behind its end the log counts as being in memory, bytes. Pulls of older
// records leave the event loop, since reading them may wait for the disk. 0 means everything.
func hotBytes() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit) / 100 * hotRatio
}
