package timer

import (
	"github.com/wheelmq/wheelmq/message"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// keep adds a message to a line, and to the second in memory that it belongs to, if there is one.
func (i *intake) keep(l *line, slot int64, item *wheel.Item) error {
	slot = max(slot, l.t.Hand())
	if err := i.add(l, slot, item); err != nil {
		return err
	}
	switch sec := l.live(slot); {
	case sec == nil:
	case sec.loading:
		sec.later = append(sec.later, late(item.Entry, sec))
	default:
		sec.add(&wheel.Item{Entry: late(item.Entry, sec)})
		i.state.loaded++
	}
	return nil
}

// late makes an instant that lies before a second's begin one of the second.
func late(e wheel.Entry, sec *second) wheel.Entry {
	e.Due = max(e.Due, sec.beginMs()-lateMs)
	return e
}

// takeCancel adds a cancel wherever its message may be: either clock may decide it.
func (i *intake) takeCancel(p *pendingRecord, item *wheel.Item) error {
	item.Flags = wheel.Cancel
	hash := keyHash(p.realTopic, p.cancels)
	for _, l := range i.state.lines {
		for slot := p.out / 1000; slot <= (p.out+i.records.precisionMs-1)/1000; slot++ {
			if err := i.addCancel(l, slot, item, hash); err != nil {
				return err
			}
		}
	}
	return i.followMoved(p, item, hash)
}

// followMoved adds a cancel where its message is since it was given another instant.
func (i *intake) followMoved(p *pendingRecord, item *wheel.Item, hash uint64) error {
	if len(i.state.moved) == 0 {
		return nil
	}
	to, ok := i.state.moved[movedHash(p.realTopic, p.cancels)]
	if !ok || p.names(to.second, i.records.precisionMs) {
		return nil
	}
	return i.addCancel(i.state.lines.of(message.Due{Wall: to.wall}), to.second, item, hash)
}

// addCancel adds a cancel to a second, unless that is done.
func (i *intake) addCancel(l *line, slot int64, item *wheel.Item, hash uint64) error {
	if slot < l.t.Hand() {
		return nil
	}
	item.Due = slot*1000 + 1
	if err := i.add(l, slot, item); err != nil {
		return err
	}
	i.tell(l, slot, func(sec *second) { sec.addCancel(&wheel.Item{Entry: item.Entry}, hash) })
	return nil
}

// tell has the second that is in memory, and whoever looks for messages in the files of one, know what
// removes a message of it.
func (i *intake) tell(l *line, slot int64, add func(sec *second)) {
	if sec := l.live(slot); sec != nil {
		add(sec)
	}
	i.looks.meanwhile(l, slot, add)
}
