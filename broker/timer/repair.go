package timer

import (
	"github.com/sirupsen/logrus"

	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// repairLoaded looks in the log for the near entries of what was read whose files are damaged.
func (o *loader) repairLoaded(l *line, g *loading) {
	switch {
	case g.reader != nil && g.reader.Err() != nil:
		from, to, near := g.reader.Missing()
		found := 0
		if near {
			found = o.repair(l, g.seconds[0], from, to)
		}
		o.tellDamage(l, g.from, found, g.reader.Err())
		if hole := g.reader.Hole(); hole.Count > 0 {
			o.repairSorted(l, g.seconds[0], hole)
		}
	case g.browser != nil && g.browser.Err() != nil:
		found := 0
		for _, m := range g.browser.Missing() {
			if sec := g.second(m.Second); sec != nil {
				found += o.repair(l, sec, m.From, m.To)
			}
		}
		o.tellDamage(l, g.from, found, g.browser.Err())
		if between := g.browser.Between(); len(between) > 0 {
			o.repairBrowsed(l, g.seconds, between)
		}
	}
}

func (o *loader) tellDamage(l *line, number int64, found int, damage error) {
	o.state.damage.since++
	o.logger.WithError(damage).WithFields(logrus.Fields{"line": l.name, "second": number, "inTheLog": found}).
		Error("files of pending timer messages are damaged: what is near is looked up in the log")
}

// repair looks in the log from from to to for near entries of a second, and returns how many it found.
func (o *loader) repair(l *line, sec *second, from, to int64) (found int) {
	have := make(map[int64]bool, len(sec.entries))
	for i := range sec.entries {
		have[sec.entries[i].logOffset] = true
	}
	o.records.eachQueued(from, to, o.state.queueOffset, func(item *wheel.Item, p *pendingRecord) bool {
		if !have[item.LogOffset] && o.state.belongs(l, sec, p) {
			o.records.take(sec, item)
			found++
		}
		return true
	})
	return found
}
