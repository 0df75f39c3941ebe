package control

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wheelmq/wheelmq/broker"
)

// place is where a message is in the order of what pends. Of the same instant levels come before
// timers, and those before what the wall decides.
type place struct{ due, rank, offset int64 }

func placeOf(p *broker.Pending) place {
	switch {
	case p.Level > 0:
		return place{p.Due, p.Level, p.QueueOffset}
	case p.Wall:
		return place{p.Due, math.MaxInt32, p.CommitLogOffset}
	}
	return place{p.Due, math.MaxInt32 - 1, p.CommitLogOffset}
}

func (a place) compare(b place) int {
	return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.rank, b.rank), cmp.Compare(a.offset, b.offset))
}

func (a place) String() string { return fmt.Sprintf("%d.%d.%d", a.due, a.rank, a.offset) }

// parsePlace reads what String wrote; "" is before everything.
func parsePlace(text string) (p place, err error) {
	if text == "" {
		return place{}, nil
	}
	parts := strings.Split(text, ".")
	numbers := [...]*int64{&p.due, &p.rank, &p.offset}
	if len(parts) != len(numbers) {
		return place{}, fmt.Errorf("%w: after=%q: want next of the page before", ErrInvalid, text)
	}
	for i, part := range parts {
		if *numbers[i], err = strconv.ParseInt(part, 10, 64); err != nil {
			return place{}, fmt.Errorf("%w: after=%q: want next of the page before", ErrInvalid, text)
		}
	}
	return p, nil
}
