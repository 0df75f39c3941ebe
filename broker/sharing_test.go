package broker_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/remoting"
)

// sharing is a group of orderly consumers on a broker, and what must hold of them: no queue is two
// members' own at once, and nobody consumes a message before the one ahead of it was consumed.
type sharing struct {
	*lab
	t            reporter
	clock        *clock.Virtual
	topic, group string
	members      []*orderly
	ghosts       []*orderly // frozen for good
	born         int
	sent, first  []int64 // by queue: how many were sent; the first that nobody has consumed
}

const expireMs = 120_000 // channelExpiredTimeout

func newSharing(rt *rapid.T, queues int) *sharing {
	m := &sharing{lab: newLab(rt), t: rt, clock: clock.NewVirtual(startMs), topic: "T", group: "G"}
	m.wire = m.clock
	m.open(startMs)
	var ext remoting.ExtWriter
	req := remoting.CreateTopicRequest{Topic: m.topic, ReadQueueNums: int32(queues), WriteQueueNums: int32(queues), Perm: 6, TopicFilterType: "SINGLE_TAG"}
	req.Encode(&ext)
	m.call(remoting.UpdateAndCreateTopic, &ext, nil)
	m.sent, m.first = make([]int64, queues), make([]int64, queues)
	return m
}

func (m *sharing) now() int64      { return m.clock.NowMillis() }
func (m *sharing) queueCount() int { return len(m.sent) }

// TestSharing_AnyJoinsAndDeaths lets consumers of one group join, leave, die, be cut off and be
// frozen at random, on a virtual wire clock.
func TestSharing_AnyJoinsAndDeaths(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newSharing(rt, rapid.IntRange(1, 6).Draw(rt, "queues"))
		defer m.close()
		rt.Repeat(map[string]func(*rapid.T){
			"": m.check, "send": m.sendSome, "join": m.join, "leave": m.leave, "kill": m.kill, "cut off": m.cutOff, "reconnect": m.reconnect,
			"freeze": m.freeze, "thaw": m.thaw, "work": m.someWork, "more work": m.someWork, "commit": m.someCommit, "time": m.someTime,
			"more time": m.someTime,
		})
		m.settle(rt)
	})
}

// check is the first promise: who believes to own a queue is alone.
func (m *sharing) check(*rapid.T) {
	for id := range int32(m.queueCount()) {
		var owners []string
		for _, o := range m.members {
			if o.owns(id) {
				owners = append(owners, o.id)
			}
		}
		if len(owners) > 1 {
			m.t.Fatalf("queue %d belongs to %v at once", id, owners)
		}
	}
}

// consumed is the second promise: a message may come again, but none is left out.
func (m *sharing) consumed(o *orderly, id int32, offset int64) {
	if offset > m.first[id] {
		m.t.Fatalf("%s consumes message %d of queue %d, and nobody has consumed %d", o.id, offset, id, m.first[id])
	}
	m.first[id] = max(m.first[id], offset+1)
}

func (m *sharing) sendSome(rt *rapid.T) {
	id := rapid.IntRange(0, m.queueCount()-1).Draw(rt, "queue")
	for range rapid.IntRange(1, 6).Draw(rt, "messages") {
		m.send(m.topic, int32(id), fmt.Sprint(m.sent[id]), 0)
		m.sent[id]++
	}
}

func (m *sharing) join(rt *rapid.T) {
	if len(m.members) >= 5 {
		rt.Skip("enough members")
	}
	m.born++
	o := &orderly{m: m, id: fmt.Sprintf("%c%d", 'a'+rapid.IntRange(0, 25).Draw(rt, "name"), m.born), holds: make(map[int32]*held)}
	m.members = append(m.members, o)
	o.connect()
	m.wantTold("a member joined")
}

// some draws a member that fits; without one the step does not apply.
func (m *sharing) some(rt *rapid.T, fits func(*orderly) bool) *orderly {
	var list []*orderly
	for _, o := range m.members {
		if fits(o) {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		rt.Skip("no such member")
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(rt, "member")]
}

func alive(o *orderly) bool { return !o.frozen && o.conn != nil }

// wantTold: every member that is connected has been told of a change.
func (m *sharing) wantTold(what string) {
	for _, o := range m.members {
		if o.conn != nil && !o.conn.notified.Load() {
			m.t.Fatalf("%s, and %s is not told", what, o.id)
		}
	}
}

// gone is the end of a member's connection.
func (m *sharing) gone(o *orderly) {
	c := o.conn
	o.conn = nil
	for _, other := range m.members {
		if other.conn != nil {
			other.conn.notified.Store(false)
		}
	}
	c.closed.Store(true)
	m.broker.ConnClosed(c)
	m.wantTold(o.id + " is gone")
}

func (m *sharing) remove(o *orderly) {
	m.members = slices.DeleteFunc(m.members, func(other *orderly) bool { return other == o })
}

func (m *sharing) leave(rt *rapid.T) {
	o := m.some(rt, alive)
	for _, id := range o.queues() {
		o.giveBack(id)
	}
	m.remove(o)
	if rapid.Bool().Draw(rt, "unregister") {
		var ext remoting.ExtWriter
		req := remoting.UnregisterClientRequest{ClientID: o.id, ConsumerGroup: m.group}
		req.Encode(&ext)
		o.must(remoting.UnregisterClient, &ext, nil)
		m.wantTold(o.id + " unregistered")
		m.broker.ConnClosed(o.conn)
		return
	}
	m.gone(o)
}

// kill is the end of a process (FIN): nothing is given back.
func (m *sharing) kill(rt *rapid.T) {
	o := m.some(rt, func(o *orderly) bool { return o.conn != nil })
	m.remove(o)
	m.gone(o)
}

// cutOff ends a connection alone: the process goes on with what it has until its locks are too old.
func (m *sharing) cutOff(rt *rapid.T) { m.gone(m.some(rt, alive)) }

func (m *sharing) reconnect(rt *rapid.T) {
	m.some(rt, func(o *orderly) bool { return !o.frozen && o.conn == nil }).connect()
}

func (m *sharing) freeze(rt *rapid.T) { m.some(rt, alive).frozen = true }

func (m *sharing) thaw(rt *rapid.T) {
	m.some(rt, func(o *orderly) bool { return o.frozen }).frozen = false
}

func (m *sharing) someWork(rt *rapid.T) {
	o := m.some(rt, func(o *orderly) bool { return !o.frozen && len(o.holds) > 0 })
	id := rapid.SampledFrom(o.queues()).Draw(rt, "queue")
	for range rapid.IntRange(1, 8).Draw(rt, "steps") {
		o.work(id)
	}
}

func (m *sharing) someCommit(rt *rapid.T) {
	o := m.some(rt, func(o *orderly) bool { return alive(o) && len(o.holds) > 0 })
	o.commit(rapid.SampledFrom(o.queues()).Draw(rt, "queue"))
}

func (m *sharing) someTime(rt *rapid.T) { m.pass(rapid.Int64Range(1, 40).Draw(rt, "seconds")) }

// pass lets time go by, a second at a time; clients do their duties, in an order of their ids.
func (m *sharing) pass(seconds int64) {
	for range seconds {
		m.clock.Set(m.now() + 1000)
		m.expire()
		for _, o := range slices.Clone(m.members) {
			o.duties()
			m.check(nil)
		}
	}
}

// expire waits until the broker has closed who is silent for too long.
func (m *sharing) expire() {
	for _, o := range slices.Concat(m.members, m.ghosts) {
		if o.conn == nil || m.now()-o.lastBeat < expireMs {
			continue
		}
		await.Until(m.t, fmt.Sprintf("%s, silent for %d ms, is disconnected", o.id, m.now()-o.lastBeat), o.conn.Closed)
		m.broker.ConnClosed(o.conn)
		o.conn = nil
	}
}

// workOff has a member look for messages of a queue, and go on as long as there are some.
func (m *sharing) workOff(o *orderly, id int32) {
	for range 64 {
		o.work(id)
		if h := o.holds[id]; h == nil || len(h.inHand) == 0 && m.first[id] == m.sent[id] {
			return
		}
	}
}

// settle ends the trouble: in the time that a dead member's locks and connection take to expire,
// every message is consumed, and every queue is somebody's.
func (m *sharing) settle(rt *rapid.T) {
	for _, o := range slices.Clone(m.members) {
		if o.frozen || o.conn == nil {
			m.remove(o)
			m.ghosts = append(m.ghosts, o)
		}
	}
	if len(m.members) == 0 {
		m.join(rt)
	}
	const enough = 120 + 60 + 20 + 20
	for range enough {
		m.pass(1)
		for _, o := range m.members {
			for _, id := range o.queues() {
				m.workOff(o, id)
			}
		}
	}
	if !slices.Equal(m.first, m.sent) {
		m.t.Fatalf("%d s after the last death: consumed %v of %v", enough, m.first, m.sent)
	}
	for id := range int32(m.queueCount()) {
		if !slices.ContainsFunc(m.members, func(o *orderly) bool { return o.owns(id) }) {
			m.t.Fatalf("queue %d is nobody's", id)
		}
	}
}
