package clock

import "time"

// sources are the machine's clocks.
type sources struct {
	mono   func() int64 // ns; stands still during a suspend
	boot   func() int64 // ns; goes on during one
	wall   func() int64 // ns since the Unix epoch
	bootID string       // names the boot that boot counts from, "" when unknown
}

func machine(wall func() time.Time) sources {
	if wall == nil {
		wall = time.Now
	}
	start := time.Now()
	mono := func() int64 { return int64(time.Since(start)) }
	boot, id := bootClock(mono)
	return sources{mono: mono, boot: boot, wall: func() int64 { return wall().UnixNano() }, bootID: id}
}

// reading is what the clocks read at one moment, ns. mono was read last, so that boot − mono
// is never more than the truth: being preempted between the two is no suspend.
type reading struct{ mono, boot, wall int64 }

// read takes the reading during which the least time passed, of a few.
func (s sources) read() (best reading) {
	const tries, enough = 8, int64(5 * time.Microsecond)
	shortest := int64(-1)
	for range tries {
		before := s.mono()
		r := reading{wall: s.wall(), boot: s.boot()}
		r.mono = s.mono()
		if took := r.mono - before; shortest < 0 || took < shortest {
			best, shortest = r, took
		}
		if shortest <= enough {
			break
		}
	}
	return best
}
