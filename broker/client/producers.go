package client

import "github.com/wheelmq/wheelmq/remoting"

// producerChannel is a connection of a client that produces, and in how many groups.
type producerChannel struct {
	conn   remoting.Conn
	groups int
}

// addProducer adds or refreshes a client in a producer group. r.mu is held.
func (r *Registry) addProducer(group string, member Member) {
	members := r.producers[group]
	if members == nil {
		members = make(map[uint64]*Member)
		r.producers[group] = members
	}
	known := members[member.Conn.ID()]
	members[member.Conn.ID()] = &member
	if known != nil {
		if known.ClientID == member.ClientID {
			return
		}
		r.releaseChannel(known)
	}
	channels := r.channels[member.ClientID]
	if channels == nil {
		channels = make(map[uint64]*producerChannel)
		r.channels[member.ClientID] = channels
	}
	if channels[member.Conn.ID()] == nil {
		channels[member.Conn.ID()] = &producerChannel{conn: member.Conn}
	}
	channels[member.Conn.ID()].groups++
}

// leaveProducers takes clients out of a producer group. r.mu is held.
func (r *Registry) leaveProducers(group string, gone func(*Member) bool) {
	members := r.producers[group]
	for id, m := range members {
		if gone(m) {
			delete(members, id)
			r.releaseChannel(m)
		}
	}
	if len(members) == 0 {
		delete(r.producers, group)
	}
}

// releaseChannel forgets that a client's connection is in a group. r.mu is held.
func (r *Registry) releaseChannel(m *Member) {
	channels := r.channels[m.ClientID]
	c := channels[m.Conn.ID()]
	if c == nil {
		return
	}
	if c.groups--; c.groups == 0 {
		delete(channels, m.Conn.ID())
	}
	if len(channels) == 0 {
		delete(r.channels, m.ClientID)
	}
}

// ProducerConn returns the connection of a client that is in a producer group, or nil. Of several,
// as while a client reconnects, it is the youngest.
func (r *Registry) ProducerConn(clientID string) remoting.Conn {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var found remoting.Conn
	for _, c := range r.channels[clientID] {
		if !c.conn.Closed() && (found == nil || found.ID() < c.conn.ID()) {
			found = c.conn
		}
	}
	return found
}

// Producers returns the members of a producer group, by client ID; nil when it has none.
func (r *Registry) Producers(group string) []Member {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if members := r.producers[group]; members != nil {
		return sortedMembers(members)
	}
	return nil
}

// AllProducers returns every producer group's members.
func (r *Registry) AllProducers() map[string][]Member {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make(map[string][]Member, len(r.producers))
	for group, members := range r.producers {
		all[group] = sortedMembers(members)
	}
	return all
}
