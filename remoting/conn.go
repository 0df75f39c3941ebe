package remoting

import "net/netip"

// Conn is a client's connection as processors see it. All methods are safe for
// concurrent use.
type Conn interface {
	// ID is unique in the process.
	ID() uint64
	RemoteAddr() netip.AddrPort
	// LocalAddr is the address the client reached, not the listener's.
	LocalAddr() netip.AddrPort

	// Send queues one complete frame. The frame is the connection's from here on. The
	// error tells that the connection is closed or its outbound bound is exceeded (it
	// is then closed).
	Send(frame []byte) error
	// SendParts queues a frame whose tail is parts, which are not copied; release (may
	// be nil) is called once, when they were written or will never be.
	SendParts(head []byte, parts [][]byte, release func()) error

	// Close closes the connection; reason goes to the log.
	Close(reason string)
	Closed() bool
}
