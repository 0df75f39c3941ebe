package client

import (
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/remoting"
)

// expireLoop closes clients that stopped sending heartbeats. It sleeps until the instant
// at which the member silent for longest would be due.
func (r *Registry) expireLoop() {
	defer r.wg.Done()
	alarm := r.opts.Wire.NewTimer()
	defer alarm.Disarm()
	for {
		clock.Rearm(alarm, r.expire())
		select {
		case <-r.stop:
			return
		case <-alarm.C():
		case <-r.kick:
		}
	}
}

// ExpireAfter changes how long a client lives without a heartbeat, ms.
func (r *Registry) ExpireAfter(ms int64) {
	r.expireMs.Store(ms)
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// expire drops the silent members, closes their connections, and returns when to look
// again; never when nobody is left.
func (r *Registry) expire() (next int64) {
	expireMs := r.expireMs.Load()
	last := r.opts.Wire.NowMillis() - expireMs
	silent := func(m *Member) bool { return m.LastUpdate <= last }
	// Set before looking: whoever registers behind the look wakes the loop.
	r.idle.Store(true)
	lost, next := r.silentOnes(silent, expireMs)
	if next < clock.Never {
		r.idle.Store(false)
	}
	r.giveUpMissing()
	if len(lost) > 0 {
		r.leaveAll(silent)
		r.closeSilent(lost)
	}
	return next
}

// silentOnes are the members that are silent, and when the first of the others may be, or never.
func (r *Registry) silentOnes(silent func(*Member) bool, expireMs int64) (lost []*Member, next int64) {
	next = clock.Never
	r.mu.RLock()
	defer r.mu.RUnlock()
	r.eachMember(func(m *Member) {
		if silent(m) {
			lost = append(lost, m)
		} else {
			next = min(next, m.LastUpdate+expireMs)
		}
	})
	if until := r.expected.until; until > 0 {
		next = min(next, until)
	}
	return lost, next
}

// closeSilent closes the connections of members, one of which may be in several groups.
func (r *Registry) closeSilent(lost []*Member) {
	closed := make(map[uint64]bool, len(lost))
	for _, m := range lost {
		if closed[m.Conn.ID()] {
			continue
		}
		closed[m.Conn.ID()] = true
		r.opts.Log.WithFields(logrus.Fields{"clientId": m.ClientID, "remote": m.Conn.RemoteAddr().String()}).
			Warn("client sent no heartbeat in time, its connection is closed")
		m.Conn.Close("no heartbeat in time")
	}
}

func (r *Registry) eachMember(visit func(*Member)) {
	for _, members := range r.producers {
		for _, m := range members {
			visit(m)
		}
	}
	for _, group := range r.consumers {
		for _, m := range group.members {
			visit(m)
		}
	}
}

// wakeExpiry lets a loop that found nobody look again.
func (r *Registry) wakeExpiry() {
	if !r.idle.CompareAndSwap(true, false) {
		return
	}
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// change is a consumer group's channels at a change of its membership.
type change struct {
	group string
	conns []remoting.Conn
}

// announce tells the channels. r.mu is not held: a connection's Send may close it, which
// comes back as ConnClosed.
func (r *Registry) announce(changes []change) {
	for _, c := range changes {
		for _, conn := range c.conns {
			if err := conn.Send(notifyFrame(c.group)); err != nil {
				r.opts.Log.WithError(err).WithFields(logrus.Fields{"group": c.group, "remote": conn.RemoteAddr().String()}).
					Debug("member is not told of its group's change")
			}
		}
	}
}
