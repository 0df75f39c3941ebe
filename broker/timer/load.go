package timer

import (
	"errors"
	"fmt"

	"github.com/wheelmq/wheelmq/message"
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

// load brings a line up to date: its hand, its files, what is due soon.
func (s *Service) load(l *line, lineNow int64) {
	l.turnBack(lineNow)
	s.prepare(l, lineNow)
	l.notReady, l.blocked = false, ""
	for room := loadStep; room > 0; {
		if l.loading != nil {
			room = s.goOn(l, room)
			continue
		}
		number, ok := l.t.NextFrom(max(l.t.Hand(), l.loadedTo+1))
		if !ok || !s.wanted(l, number, lineNow/1000) {
			l.loadedTo = max(l.loadedTo, lineNow/1000+aheadSeconds)
			return
		}
		if l.find(number) != nil {
			l.loadedTo = number
			continue
		}
		if s.loaded >= maxLoaded && len(l.loaded) >= fewSeconds {
			return
		}
		// Nothing lies before it: what comes for there while it is read is kept in memory too.
		l.loadedTo = max(l.loadedTo, number-1)
		if err := s.beginLoad(l, number); err != nil {
			s.cannotRead(l, number, err)
			return
		}
	}
}

// wanted tells whether it is time to have a second in memory. With exact instants asked for the
// next one is always, to know its first instant.
func (s *Service) wanted(l *line, number, now int64) bool {
	return l.loadFrom(number) <= now || s.opts.InOrder && number < l.t.NearEnd() && s.idle(l)
}

// idle tells that nothing in memory is left to be delivered.
func (s *Service) idle(l *line) bool {
	for _, sec := range l.loaded {
		if sec.left > 0 {
			return false
		}
	}
	return true
}

func (s *Service) cannotRead(l *line, number int64, err error) {
	l.notReady = true
	if !errors.Is(err, wheel.ErrNotReady) {
		l.blocked = fmt.Sprintf("second %d of %s cannot be read: %v", number, l.name, err)
	}
}

// take puts an entry that was read into its second. What cannot be read is lost.
func (s *Service) take(sec *second, item *wheel.Item) {
	if err := s.place(sec, item); err != nil {
		_ = s.lost(item.LogOffset, err)
	}
}

// place puts an entry that was read where it belongs in its second.
func (s *Service) place(sec *second, item *wheel.Item) error {
	switch {
	case item.Flags&wheel.CancelRef != 0:
		removes, err := s.refOf(item)
		if err != nil {
			return err
		}
		sec.addRef(removes)
	case item.Flags&wheel.Cancel != 0:
		hash, err := s.hashOf(item)
		if err != nil {
			return err
		}
		sec.addCancel(item, hash)
	default:
		item.Entry = late(item.Entry, sec)
		sec.add(item)
	}
	return nil
}

// hashOf is the hash of the key that a cancel removes.
func (s *Service) hashOf(item *wheel.Item) (hash uint64, err error) {
	err = s.withRecord(item.LogOffset, item.Size, item.Record, func(v *message.View) error {
		p, reason := readPending(v, s.opts.PrecisionMs)
		if reason != "" || p.cancels == nil {
			return fmt.Errorf("timer: the record at %d is no cancel: %s", item.LogOffset, reason)
		}
		hash = keyHash(p.realTopic, p.cancels)
		return nil
	})
	return hash, err
}

// withRecord shows fn a record, from the log where the Timeline does not have it.
func (s *Service) withRecord(commitLogOffset int64, size int32, kept []byte, fn func(v *message.View) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = faultOf(p)
		}
	}()
	if kept == nil {
		slice, err := s.opts.Log.Record(commitLogOffset, size)
		if err != nil {
			return err
		}
		defer slice.Release()
		kept = slice.Bytes
	}
	v, err := message.Parse(kept)
	if err != nil {
		return err
	}
	return fn(&v)
}

// isCancelled tells whether a message of a second with cancels is removed by one of them.
func (s *Service) isCancelled(sec *second, e *entry, v *message.View) bool {
	if sec.removedByRef(e) {
		return true
	}
	key, ok := message.PropertyGet(v.Properties, message.PropertyUniqKey)
	if !ok {
		return false
	}
	realTopic, _ := message.PropertyGet(v.Properties, message.PropertyRealTopic)
	i, ok := sec.cancels[keyHash(realTopic, key)]
	for ; ok && i != noEntry; i = sec.entries[i].next {
		c := &sec.entries[i]
		same := false
		err := s.withRecord(c.logOffset, c.size, c.bytes(), func(v *message.View) error {
			p, _ := readPending(v, s.opts.PrecisionMs)
			same = string(p.realTopic) == string(realTopic) && string(p.cancels) == string(key)
			return nil
		})
		if err != nil {
			s.unread(c.logOffset, err)
		} else if same {
			return true
		}
	}
	return false
}

// hasCancels tells whether messages of the second may be removed.
func (sec *second) hasCancels() bool { return len(sec.cancels) > 0 || len(sec.refs) > 0 }
