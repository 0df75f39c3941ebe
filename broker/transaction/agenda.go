package transaction

// entry is an open half message that is looked at again.
type entry struct {
	due    int64 // ms of message time
	offset int64 // of the half topic's queue
}

// agenda is a heap of the half messages that have been open for long, the one that is due first on
// top. Entries of those that were ended since stay until they are due, or until they are too many.
type agenda struct{ entries []entry }

// sweepFrom is how many entries there are at least before ended ones are looked for.
const sweepFrom = 4096

func (a *agenda) push(e entry) {
	a.entries = append(a.entries, e)
	for i := len(a.entries) - 1; i > 0; {
		parent := (i - 1) / 2
		if !before(a.entries[i], a.entries[parent]) {
			break
		}
		a.entries[i], a.entries[parent] = a.entries[parent], a.entries[i]
		i = parent
	}
}

func (a *agenda) pop() entry {
	top := a.entries[0]
	last := len(a.entries) - 1
	a.entries[0] = a.entries[last]
	a.entries = a.entries[:last]
	a.down(0)
	return top
}

func (a *agenda) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(a.entries) {
			return
		}
		if child+1 < len(a.entries) && before(a.entries[child+1], a.entries[child]) {
			child++
		}
		if !before(a.entries[child], a.entries[i]) {
			return
		}
		a.entries[i], a.entries[child] = a.entries[child], a.entries[i]
		i = child
	}
}

// sweep takes out what is ended, when there is more of it than of what is open.
func (a *agenda) sweep(open int64, isOpen func(offset int64) bool) {
	if len(a.entries) < sweepFrom || int64(len(a.entries)) <= 2*open {
		return
	}
	kept := make([]entry, 0, open)
	for _, e := range a.entries {
		if isOpen(e.offset) {
			kept = append(kept, e)
		}
	}
	a.entries = kept
	for i := len(kept)/2 - 1; i >= 0; i-- {
		a.down(i)
	}
}

func before(a, b entry) bool {
	return a.due < b.due || a.due == b.due && a.offset < b.offset
}
