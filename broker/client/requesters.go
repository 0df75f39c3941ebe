package client

import (
	"sync"

	"github.com/wheelmq/wheelmq/remoting"
)

// requesters are the clients that ask for replies, and where they do: a heartbeat that tells of them
// may be 30 s away.
type requesters struct {
	mu    sync.Mutex               // guards ids and conns
	ids   map[uint64]string        // client ID by connection
	conns map[string]remoting.Conn // by client ID
}

func newRequesters() requesters {
	return requesters{ids: make(map[uint64]string), conns: make(map[string]remoting.Conn)}
}

// Requested notes that a client asks for replies (REPLY_TO_CLIENT) by a connection. That is known by
// the last client that it names; while that lives, nobody else takes its place, such as a consumer
// that passes the request on.
func (r *Registry) Requested(conn remoting.Conn, clientID []byte) { r.requesters.note(conn, clientID) }

// RequesterConn returns the connection on which a client has asked for replies, or nil.
func (r *Registry) RequesterConn(clientID string) remoting.Conn { return r.requesters.conn(clientID) }

func (r *requesters) note(conn remoting.Conn, clientID []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, named := r.ids[conn.ID()]
	if named && known == string(clientID) || conn.Closed() {
		return
	}
	id := string(clientID)
	if other := r.conns[id]; other != nil && !other.Closed() {
		return
	}
	if named {
		r.forget(conn.ID(), known)
	}
	r.ids[conn.ID()] = id
	r.conns[id] = conn
}

func (r *requesters) conn(clientID string) remoting.Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	if conn := r.conns[clientID]; conn != nil && !conn.Closed() {
		return conn
	}
	return nil
}

// gone forgets a connection that has ended.
func (r *requesters) gone(conn remoting.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id, named := r.ids[conn.ID()]; named {
		r.forget(conn.ID(), id)
	}
}

// forget drops a connection's name. r.mu is held.
func (r *requesters) forget(connID uint64, clientID string) {
	delete(r.ids, connID)
	if c := r.conns[clientID]; c != nil && c.ID() == connID {
		delete(r.conns, clientID)
	}
}
