package broker

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/remoting"
)

// Call serves a request of this process's own, as if a client had sent it, but for the steps
// before handlers: faults are for clients.
func (b *Broker) Call(ctx context.Context, code int32, ext *remoting.ExtWriter, body []byte) (*remoting.Command, error) {
	conn := &ownConn{answer: make(chan []byte, 1)}
	var ex remoting.Exchange
	ex.Begin(conn)
	if err := remoting.Decode(remoting.AppendRequest(nil, code, 1, 0, ext, body), &ex.Req); err != nil {
		return nil, fmt.Errorf("broker: own call, code %d: %w", code, err)
	}
	b.own.Serve(&ex)
	if !ex.Deferred() {
		conn.answerNow(&ex.Reply)
	}
	select {
	case frame := <-conn.answer:
		reply := new(remoting.Command)
		if err := remoting.Decode(frame, reply); err != nil {
			return nil, fmt.Errorf("broker: own call, code %d: %w", code, err)
		}
		return reply, nil
	case <-ctx.Done():
		conn.dead.Store(true)
		return nil, fmt.Errorf("broker: own call, code %d: %w", code, ctx.Err())
	}
}

// ownConn is the connection of one own call.
type ownConn struct {
	answer chan []byte
	dead   atomic.Bool
}

// ID is above those of clients, which count from 1.
func (c *ownConn) ID() uint64                 { return math.MaxUint64 }
func (c *ownConn) RemoteAddr() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:0") }
func (c *ownConn) LocalAddr() netip.AddrPort  { return netip.MustParseAddrPort("127.0.0.1:0") }
func (c *ownConn) Close(string)               { c.dead.Store(true) }
func (c *ownConn) Closed() bool               { return c.dead.Load() }

// Send takes the answer.
func (c *ownConn) Send(frame []byte) error {
	c.answer <- frame
	return nil
}

// SendParts takes the answer.
func (c *ownConn) SendParts(head []byte, parts [][]byte, release func()) error {
	for _, part := range parts {
		head = append(head, part...)
	}
	if release != nil {
		release()
	}
	return c.Send(head)
}

func (c *ownConn) answerNow(r *remoting.Reply) {
	// The answer of an own call always has room.
	_ = c.SendParts(remoting.AppendReplyHead(nil, 1, r), r.Parts, r.Release)
}
