package timer

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/message"
)

// parking parks messages that cannot be delivered at any time, and counts them. It needs no lock.
type parking struct {
	park   Parker
	parked atomic.Int64
}

func (p *parking) put(rec *message.Record, reason string) error {
	if err := p.park.Park(rec, "timer", reason); err != nil {
		return fmt.Errorf("timer: %w", err)
	}
	p.parked.Add(1)
	return nil
}

// poison parks a record of the timer queue that cannot be delivered at any time.
func (i *intake) poison(v *message.View, commitLogOffset int64, reason string) error {
	if i.state.known.has(commitLogOffset) {
		return nil
	}
	i.copy.Make(v, commitLogOffset)
	i.copy.Record.QueueID = max(i.copy.Record.QueueID, 0)
	return i.parking.put(&i.copy.Record, "a record of the timer queue cannot be delivered: "+strings.TrimPrefix(reason, "timer: "))
}
