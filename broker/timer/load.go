package timer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sirupsen/logrus"

	wheel "github.com/wheelmq/wheelmq/store/timer"
)

const (
	// aheadSeconds is how far ahead seconds are loaded.
	aheadSeconds = 3
	// maxLoaded is how many entries are in memory before no more seconds are loaded, unless there
	// are few.
	maxLoaded  = 1 << 20
	fewSeconds = 4
	// lateMs bounds how long before its second's begin a message in memory counts as due, ms.
	lateMs = 32_000
)

// loader brings into memory what is due soon. It belongs to the driver.
type loader struct {
	state      *state
	records    *records
	sorter     *sorter
	prefetcher *prefetcher
	logger     logrus.FieldLogger
	ctx        context.Context // ends with the service
	wg         *sync.WaitGroup // of the service's goroutines
	wake       func()          // has the driver look again
	inOrder    bool            // as Options.InOrder

	repairs int // seconds of which what is missing is looked for
}

// load brings a line up to date: its hand, its files, what is due soon.
func (o *loader) load(l *line, lineNow int64) {
	l.turnBack(lineNow)
	o.sorter.prepare(l, lineNow)
	l.notReady, l.blocked = false, ""
	for room := loadStep; room > 0; {
		if l.loading != nil {
			room = o.goOn(l, room)
			continue
		}
		number, ok := l.next()
		if !ok || !o.wanted(l, number, lineNow/1000) {
			l.loadedTo = max(l.loadedTo, lineNow/1000+aheadSeconds)
			return
		}
		if l.find(number) != nil {
			l.loadedTo = number
			continue
		}
		if o.state.loaded >= maxLoaded && len(l.loaded) >= fewSeconds {
			return
		}
		// Nothing lies before it: what comes for there while it is read is kept in memory too.
		l.loadedTo = max(l.loadedTo, number-1)
		if err := o.beginLoad(l, number); err != nil {
			o.cannotRead(l, number, err)
			return
		}
	}
}

// wanted tells whether it is time to have a second in memory. With exact instants asked for the
// next one is always, to know its first instant.
func (o *loader) wanted(l *line, number, now int64) bool {
	return l.loadFrom(number) <= now || o.inOrder && number < l.t.NearEnd() && l.idle()
}

// idle tells that nothing in memory is left to be delivered.
func (l *line) idle() bool {
	for _, sec := range l.loaded {
		if sec.left > 0 {
			return false
		}
	}
	return true
}

func (o *loader) cannotRead(l *line, number int64, err error) {
	l.notReady = true
	if !errors.Is(err, wheel.ErrNotReady) {
		l.blocked = fmt.Sprintf("second %d of %s cannot be read: %v", number, l.name, err)
	}
}
