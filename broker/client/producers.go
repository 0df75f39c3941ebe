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

// Requested notes that a client asks for replies (REPLY_TO_CLIENT), and where it does: its heartbeat
// may be 30 s away. A connection is known by the last client that it names; while that lives, nobody
// else takes its place, such as a consumer that passes the request on.
func (r *Registry) Requested(conn remoting.Conn, clientID []byte) {
	r.requesterMu.Lock()
	defer r.requesterMu.Unlock()
	known, named := r.requesters[conn.ID()]
	if named && known == string(clientID) || conn.Closed() {
		return
	}
	id := string(clientID)
	if other := r.requesterConns[id]; other != nil && !other.Closed() {
		return
	}
	if named {
		r.forgetRequester(conn.ID(), known)
	}
	r.requesters[conn.ID()] = id
	r.requesterConns[id] = conn
}

// RequesterConn returns the connection on which a client has asked for replies, or nil.
func (r *Registry) RequesterConn(clientID string) remoting.Conn {
	r.requesterMu.Lock()
	defer r.requesterMu.Unlock()
	if conn := r.requesterConns[clientID]; conn != nil && !conn.Closed() {
		return conn
	}
	return nil
}

// requesterGone forgets a connection that has ended.
func (r *Registry) requesterGone(conn remoting.Conn) {
	r.requesterMu.Lock()
	defer r.requesterMu.Unlock()
	if id, named := r.requesters[conn.ID()]; named {
		r.forgetRequester(conn.ID(), id)
	}
}

// forgetRequester drops a connection's name. r.requesterMu is held.
func (r *Registry) forgetRequester(connID uint64, clientID string) {
	delete(r.requesters, connID)
	if c := r.requesterConns[clientID]; c != nil && c.ID() == connID {
		delete(r.requesterConns, clientID)
	}
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
