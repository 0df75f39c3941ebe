package timer

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/wheelmq/wheelmq/message"
)

// maxMoved bounds how many messages are remembered that were given other instants, some 10 MB.
// Cancels that name an earlier instant do not find further ones.
const maxMoved = 1 << 18

// moved is where messages are kept now that were given other instants, by the hash of topic and
// UNIQ_KEY: a recall handle, or a cancel by property, names the instant that a message had when it was
// sent. A checkpoint has them.
type moved map[uint64]movedTo

type movedTo struct {
	second int64
	wall   bool
}

// movedHash is the same in every process.
func movedHash(realTopic, key []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(realTopic) // never fails
	_, _ = h.Write([]byte{0})
	_, _ = h.Write(key)
	return h.Sum64()
}

// note takes in that a message was given another instant, or was cancelled.
func (m moved) note(v *message.View, p *pendingRecord) {
	key, ok := message.PropertyGet(v.Properties, message.PropertyUniqKey)
	if !ok {
		return
	}
	hash := movedHash(p.realTopic, key)
	if p.supersedes.Generation == 0 {
		delete(m, hash)
		return
	}
	if _, known := m[hash]; known || len(m) < maxMoved {
		m[hash] = movedTo{slotOf(p.due.Ms), p.due.Wall}
	}
}

// forgetMoved forgets those whose second is done.
func (s *state) forgetMoved() {
	for hash, to := range s.moved {
		if to.second < s.lines.of(message.Due{Wall: to.wall}).t.Hand() {
			delete(s.moved, hash)
		}
	}
}

// may tells whether a cancel may have been added to a second because its message was moved there.
func (m moved) may(p *pendingRecord, second int64, wall bool) bool {
	to, ok := m[movedHash(p.realTopic, p.cancels)]
	return ok && to == movedTo{second, wall}
}

// names tells whether a cancel names a second, of which its precision may cover two.
func (p *pendingRecord) names(second, precisionMs int64) bool {
	return second >= p.out/1000 && second <= (p.out+precisionMs-1)/1000
}

// append appends them: how many, and of each 8 bytes of hash and the second, a varint that is
// negative when the wall decides.
func (m moved) append(b []byte) []byte {
	b = binary.AppendVarint(b, int64(len(m)))
	for hash, to := range m {
		b = binary.BigEndian.AppendUint64(b, hash)
		second := to.second
		if to.wall {
			second = ^second
		}
		b = binary.AppendVarint(b, second)
	}
	return b
}

func (d *decoder) moved() moved {
	m := make(moved)
	for n := d.number(); n > 0 && !d.bad; n-- {
		if len(d.b) < 8 {
			d.bad = true
			return m
		}
		hash := binary.BigEndian.Uint64(d.b)
		d.b = d.b[8:]
		to := movedTo{second: d.number()}
		if to.second < 0 {
			to = movedTo{^to.second, true}
		}
		m[hash] = to
	}
	return m
}
