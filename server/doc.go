// Package server is the network side: it accepts connections, cuts frames, runs every
// request on the event loop or on the bounded pool of its class, and writes the replies.
//
// One Server is one port. Its frames are handled strictly per connection; replies to the
// requests of one read leave in one write. Requests that must not block the loop are copied
// once and run by workers; past the bound of a pool the client gets SYSTEM_BUSY. What a
// client does not read is kept up to a bound, then its connection is closed. Calls to
// clients go through Call and Notify.
//
// It knows nothing of brokers or name servers, and of handlers only remoting.Router.
// Locks: conn.mu and Server.mu are leaves; neither is held while calling out.
package server
