package pop

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
)

// OrderFile is where the real broker keeps what was popped in order, in its directory config.
const OrderFile = "consumerOrderInfo.json"

// noHost is of records that nobody has sent.
var noHost = netip.AddrPortFrom(netip.IPv4Unspecified(), 0)

// orderInfo is the contents of OrderFile (RocketMQ 5.5.0): by topic@group and queue.
type orderInfo struct {
	Table map[string]map[string]orderBlock `json:"table"`
}

// orderBlock is what was handed out last of a queue.
type orderBlock struct {
	Attempt   string           `json:"a,omitempty"`
	Acked     uint64           `json:"cm"` // bits
	Invisible int64            `json:"i"`  // ms
	Consumed  int64            `json:"l"`  // instant of the pop, ms
	Offsets   []int64          `json:"o"`  // the first, and what the others are behind it
	Counts    map[string]int32 `json:"oc,omitempty"`
	Visible   map[string]int64 `json:"ot,omitempty"` // instants, ms, that are not those of the pop
	PopTime   int64            `json:"popTime"`
}

// add notes the block of a window. w.mu is held.
func (o *orderInfo) add(w *Window) {
	b := w.block
	out := orderBlock{
		Attempt: b.attempt, Consumed: b.popTime, PopTime: b.popTime, Invisible: max(b.msgs[0].due-b.popTime, 1),
		Counts: make(map[string]int32), Visible: make(map[string]int64),
	}
	for i := range b.msgs {
		m, at := &b.msgs[i], strconv.FormatInt(b.msgs[i].offset, 10)
		if i == 0 {
			out.Offsets = append(out.Offsets, m.offset)
		} else {
			out.Offsets = append(out.Offsets, m.offset-b.msgs[0].offset)
		}
		if m.acked {
			out.Acked |= 1 << i
		}
		if m.count > 0 {
			out.Counts[at] = m.count
		}
		if m.due != b.popTime+out.Invisible {
			out.Visible[at] = m.due
		}
	}
	key := w.key.Topic + "@" + w.key.Group
	if o.Table[key] == nil {
		o.Table[key] = make(map[string]orderBlock)
	}
	o.Table[key][strconv.Itoa(int(w.key.QueueID))] = out
}

// block is the opposite; nil: nothing of it blocks, or it makes no sense.
func (o *orderBlock) block() *block {
	if len(o.Offsets) == 0 || len(o.Offsets) > 64 || o.PopTime <= 0 || o.Offsets[0] < 0 {
		return nil
	}
	b := &block{popTime: o.PopTime, attempt: o.Attempt, msgs: make([]blocked, len(o.Offsets))}
	last := int64(-1)
	for i, at := range o.Offsets {
		if i > 0 {
			at += o.Offsets[0]
		}
		if at <= last {
			return nil
		}
		last = at
		name := strconv.FormatInt(at, 10)
		due, ok := o.Visible[name]
		if !ok {
			due = o.PopTime + o.Invisible
		}
		b.msgs[i] = blocked{offset: at, due: due, count: o.Counts[name], acked: o.Acked>>i&1 == 1}
	}
	if b.done() {
		return nil
	}
	return b
}

// takeOverOrder takes over what the real broker has handed out in order, once: the file is gone then.
func (s *Service) takeOverOrder() error {
	if s.opts.Config == nil {
		return nil
	}
	var found orderInfo
	err := s.opts.Config.Load(OrderFile, &found)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		s.opts.Logger.WithError(err).Warn("what RocketMQ has handed out in order cannot be read, and is handed out again at once")
		return nil
	}
	for key, queues := range found.Table {
		topic, group, ok := strings.Cut(key, "@")
		for number, o := range queues {
			id, err := strconv.ParseInt(number, 10, 32)
			if b := o.block(); ok && err == nil && b != nil {
				if err := s.takeOverBlock(Key{group, topic, int32(id)}, b); err != nil {
					return err
				}
			}
		}
	}
	if err := s.journal.Sync(); err != nil {
		return err
	}
	return s.opts.Config.Remove(OrderFile)
}

// takeOverBlock takes over what was handed out of a queue, when its group is still there.
func (s *Service) takeOverBlock(k Key, b *block) error {
	q := s.opts.Log.Queue([]byte(k.Topic), k.QueueID)
	committed := s.opts.Offsets.Query([]byte(k.Group), []byte(k.Topic), k.QueueID)
	if q == nil || b.msgs[len(b.msgs)-1].offset >= q.Max() || committed != b.next() {
		s.opts.Logger.WithFields(logrus.Fields{"group": k.Group, "topic": k.Topic, "queueId": k.QueueID}).
			Info("what RocketMQ has handed out in order is not where its group is")
		return nil
	}
	w := s.window(k)
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.writeBlock(b, committed, true); err != nil {
		return fmt.Errorf("take over %s: %w", OrderFile, err)
	}
	w.block, w.cursor, w.shown = b, committed, committed
	return nil
}
