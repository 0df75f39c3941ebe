package timer

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	secondsPerDay = 24 * secondsPerHour
	hoursPerDay   = 24
)

// bucket is an hour or a UTC day, by its number since 1970.
type bucket struct {
	day bool
	n   int64
}

func hourBucket(second int64) bucket { return bucket{n: second / secondsPerHour} }
func dayBucket(second int64) bucket  { return bucket{day: true, n: second / secondsPerDay} }

// seconds is how long it is.
func (b bucket) seconds() int64 {
	if b.day {
		return secondsPerDay
	}
	return secondsPerHour
}

// begin is its first second, end the first one behind it.
func (b bucket) begin() int64 { return b.n * b.seconds() }
func (b bucket) end() int64   { return b.begin() + b.seconds() }

// parts is how many stretches its run has, and part the number of the one that a second is in:
// an hour is sorted by seconds, a day by hours.
func (b bucket) parts() int64 { return b.seconds() / b.partSeconds() }

func (b bucket) partSeconds() int64 {
	if b.day {
		return secondsPerHour
	}
	return 1
}

func (b bucket) part(second int64) int64 { return (second - b.begin()) / b.partSeconds() }

func (b bucket) has(second int64) bool { return second >= b.begin() && second < b.end() }

func (b bucket) String() string {
	if b.day {
		return fmt.Sprintf("day%06d", b.n)
	}
	return fmt.Sprintf("hour%07d", b.n)
}

// The files of an extent are named by what it is, its bucket and its id: hour0477777-segment-12,
// before the number of a chunk or "index".
const (
	segmentKind = "segment"
	runKind     = "run"
	indexEnd    = "index"
)

func extentName(b bucket, kind string, id uint64) string {
	return fmt.Sprintf("%s-%s-%d", b, kind, id)
}

// found is what the name of a file says.
type found struct {
	bucket bucket
	kind   string
	id     uint64
	index  bool
	chunk  int64
}

// parseName reads the name of a file; false for one that is none of ours.
func parseName(name string) (f found, ok bool) {
	parts := strings.Split(name, "-")
	if len(parts) != 4 || parts[1] != segmentKind && parts[1] != runKind {
		return found{}, false
	}
	f.kind, f.index = parts[1], parts[3] == indexEnd
	number, isDay := strings.CutPrefix(parts[0], "day")
	if f.bucket.day = isDay; !isDay {
		number, ok = strings.CutPrefix(parts[0], "hour")
		if !ok {
			return found{}, false
		}
	}
	var errs [3]error
	f.bucket.n, errs[0] = strconv.ParseInt(number, 10, 48)
	f.id, errs[1] = strconv.ParseUint(parts[2], 10, 63)
	if !f.index {
		f.chunk, errs[2] = strconv.ParseInt(parts[3], 10, 40)
	}
	valid := f.bucket.n >= 0 && f.chunk >= 0 && (f.kind == runKind || !f.index)
	return f, valid && errs == [3]error{}
}
