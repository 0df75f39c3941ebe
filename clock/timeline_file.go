package clock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/wheelmq/wheelmq/durable"
)

// place is where a timeline stands between the machine's clocks, as its file keeps it.
type place struct {
	BootID     string `json:"bootId"`     // the boot of the machine that BootOffset counts from; "" unknown
	BootOffset int64  `json:"bootOffset"` // the timeline less the boot's clock, ns
	WallOffset int64  `json:"wallOffset"` // the wall less the timeline, ns
	Instant    int64  `json:"instant"`    // the timeline when the file was written, ns since the Unix epoch
}

// resume is where the timeline goes on at a reading in the boot named bootID.
func (p place) resume(r reading, bootID string) int64 {
	store := r.wall - p.WallOffset
	if p.BootID != "" && p.BootID == bootID {
		store = r.boot + p.BootOffset
	}
	return max(store, p.Instant)
}

// load reads the file. Without a readable one the timeline begins where the wall is.
func (l *Timeline) load() (p place, ok bool) {
	if l.opts.File == "" {
		return p, false
	}
	b, err := os.ReadFile(l.opts.File)
	if errors.Is(err, fs.ErrNotExist) {
		return p, false
	}
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		l.opts.Log.WithError(err).WithField("file", l.opts.File).
			Error("the place of store time cannot be read: it begins where the wall clock is")
		return place{}, false
	}
	return p, true
}

func (l *Timeline) save() error {
	if l.opts.File == "" {
		return nil
	}
	l.mu.Lock()
	mono := l.src.mono()
	store := l.anchor.Load().at(mono)
	p := place{BootID: l.src.bootID, BootOffset: store - (mono + l.lead), WallOffset: l.wallOffset, Instant: store}
	l.mu.Unlock()
	b, err := json.Marshal(p)
	if err == nil {
		err = durable.Replace(l.opts.File, b)
	}
	if err != nil {
		err = fmt.Errorf("clock: keep the place of store time: %w", err)
		l.saveErr.Store(&err)
		return err
	}
	l.saveErr.Store(nil)
	return nil
}
