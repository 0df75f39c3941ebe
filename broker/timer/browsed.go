package timer

// browsedSeconds are those of a line that were read before their hour was sorted, with what the log had of
// them where files were damaged: what a later sort misses of them was dealt with.
type browsedSeconds []stretch

// stretch is the seconds [from, to].
type stretch struct{ from, to int64 }

// maxBrowsed bounds how many stretches are remembered. They follow one another, but where nothing was due.
const maxBrowsed = 1 << 10

func (b *browsedSeconds) add(from, to int64) {
	if n := len(*b); n > 0 && (*b)[n-1].to+1 >= from && (*b)[n-1].from <= from {
		(*b)[n-1].to = max((*b)[n-1].to, to)
		return
	}
	if len(*b) == maxBrowsed {
		*b = append((*b)[:0], (*b)[1:]...)
	}
	*b = append(*b, stretch{from, to})
}

func (b browsedSeconds) has(second int64) bool {
	for _, s := range b {
		if second >= s.from && second <= s.to {
			return true
		}
	}
	return false
}
