package timer

import (
	"math"
	"slices"

	"github.com/wheelmq/wheelmq/message"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

const (
	// farPage is how many messages a cursor keeps of what is not sorted, at most: each page is a look
	// through a day's files or more.
	farPage = 1 << 15
	// farPageBytes bounds the records that are kept meanwhile; there are fewer then.
	farPageBytes = 16 << 20
)

// fillFar takes the first messages of what is not sorted that come after those looked at.
func (c *cursor) fillFar() {
	p := c.s.farFrom(c.l, *c.far, farPage)
	c.page = p.left()
	if c.end = len(p.list) == 0; !c.end {
		last := p.list[len(p.list)-1]
		last.record = nil
		c.far = &last
	}
}

// farMessages are the first of what is not sorted, and the cancels of their seconds.
type farMessages struct {
	limit   int
	list    []Pending
	bytes   int   // of the records in list
	end     int64 // second of the last one that was kept when there were enough; 0: there are not
	cancels map[farKey]struct{}
	refs    map[int64]int64 // the seconds of messages that are removed one by one, by their log offsets
}

// farKey is a key of a topic in a second.
type farKey struct {
	second int64
	key    string
}

func keyOf(second int64, realTopic, key []byte) farKey {
	return farKey{second, string(realTopic) + "\x00" + string(key)}
}

// farFrom looks for the first messages that come after one, at most limit.
func (s *Service) farFrom(l *line, after Pending, limit int) *farMessages {
	f := &farMessages{limit: limit, cancels: make(map[farKey]struct{}), refs: make(map[int64]int64)}
	for offset, id := range s.superseding {
		f.refs[offset] = id.Second
	}
	err := l.t.Each(after.second, func(number int64, item wheel.Item) bool {
		switch {
		case item.Flags&wheel.Cancel != 0:
			s.addFarCancel(f, number, &item)
			return true
		case item.Flags&wheel.CancelRef != 0:
			if removes, err := s.refOf(&item); err == nil {
				f.refs[removes] = number
			}
			return true
		}
		p := Pending{Due: item.Due, Wall: l.wall, CommitLogOffset: item.LogOffset, Size: item.Size, second: number}
		if item.Flags == 0 && compareDue(p, after) > 0 && !s.known.has(item.LogOffset) {
			p.record = slices.Clone(item.Record)
			f.add(p)
		}
		return f.end == 0 || number/daySeconds <= f.end/daySeconds
	})
	if err != nil {
		s.opts.Logger.WithError(err).WithField("line", l.name).Error("far timers cannot all be looked at")
	}
	f.trim()
	return f
}

func (s *Service) addFarCancel(f *farMessages, number int64, item *wheel.Item) {
	_ = s.withRecord(item.LogOffset, item.Size, item.Record, func(v *message.View) error {
		if p, _ := readPending(v, s.opts.PrecisionMs); p.cancels != nil {
			f.cancels[keyOf(number, p.realTopic, p.cancels)] = struct{}{}
		}
		return nil
	})
}

// daySeconds is how long the days are that Each visits one after another, seconds.
const daySeconds = 86_400

func (f *farMessages) add(p Pending) {
	f.list = append(f.list, p)
	f.bytes += len(p.record)
	if f.bytes > farPageBytes {
		f.limit = min(f.limit, max(1, len(f.list)/2))
	}
	if len(f.list) >= 2*f.limit {
		f.trim()
	}
}

// trim keeps the first messages, and the cancels that may be theirs.
func (f *farMessages) trim() {
	slices.SortFunc(f.list, compareDue)
	if len(f.list) <= f.limit {
		return
	}
	for i := range f.list[f.limit:] {
		f.bytes -= len(f.list[f.limit+i].record)
	}
	clear(f.list[f.limit:])
	f.list = f.list[:f.limit]
	end := f.list[f.limit-1].second
	f.end = end
	for k := range f.cancels {
		if k.second > end {
			delete(f.cancels, k)
		}
	}
	for k, second := range f.refs {
		if second > end {
			delete(f.refs, k)
		}
	}
}

// left are the messages that are not cancelled.
func (f *farMessages) left() (list []Pending) {
	for _, p := range f.list {
		if _, gone := f.refs[p.CommitLogOffset]; gone {
			continue
		}
		v, err := message.Parse(p.record)
		if err == nil && len(f.cancels) > 0 {
			realTopic, _ := message.PropertyGet(v.Properties, message.PropertyRealTopic)
			key, _ := message.PropertyGet(v.Properties, message.PropertyUniqKey)
			if _, gone := f.cancels[keyOf(p.second, realTopic, key)]; gone {
				continue
			}
		}
		list = append(list, p)
	}
	return list
}

// fewFar is how many messages firstFar looks at before more.
const fewFar = 64

// firstFar is the first instant of what is not sorted; never when there is nothing.
func (s *Service) firstFar(l *line) int64 {
	if l.farAt == s.progress {
		return l.far
	}
	l.farAt, l.far = s.progress, never
	after := Pending{second: max(l.t.Hand(), l.loadedTo+1), Due: math.MinInt64}
	for {
		p := s.farFrom(l, after, fewFar)
		if len(p.list) == 0 {
			return l.far
		}
		if left := p.left(); len(left) > 0 {
			l.far = left[0].Due
			return l.far
		}
		after = p.list[len(p.list)-1]
	}
}
