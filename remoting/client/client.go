// Package client makes outgoing calls over one connection: a broker to its name servers.
package client

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
)

// Conn is one connection. Calls are made one after the other.
type Conn struct {
	nc     net.Conn
	mu     sync.Mutex // one call at a time; guards opaque
	opaque int32
}

// Dial connects to host:port.
func Dial(ctx context.Context, addr string) (*Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("remoting client: %w", err)
	}
	return &Conn{nc: nc}, nil
}

// LocalAddr is our end of the connection.
func (c *Conn) LocalAddr() netip.AddrPort {
	addr, err := netip.ParseAddrPort(c.nc.LocalAddr().String())
	if err != nil {
		return netip.AddrPort{}
	}
	return addr
}

// Close closes the connection.
func (c *Conn) Close() error { return c.nc.Close() }

// Call sends a request and waits for its reply until ctx ends. A reply with a code other than
// 0 is a *remoting.Error.
func (c *Conn) Call(ctx context.Context, code int32, ext *remoting.ExtWriter, body []byte) (*remoting.Command, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Time{}
	}
	if err := c.nc.SetDeadline(deadline); err != nil {
		return nil, fmt.Errorf("remoting client: %w", err)
	}
	c.opaque++
	if _, err := c.nc.Write(remoting.AppendRequest(nil, code, c.opaque, 0, ext, body)); err != nil {
		return nil, fmt.Errorf("remoting client: %w", err)
	}
	for {
		reply, err := c.read()
		if err != nil {
			return nil, err
		}
		if !reply.IsResponse() || reply.Opaque != c.opaque {
			continue
		}
		if reply.Code != remoting.Success {
			return nil, &remoting.Error{Code: reply.Code, Remark: reply.Remark}
		}
		return reply, nil
	}
}

func (c *Conn) read() (*remoting.Command, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c.nc, head); err != nil {
		return nil, fmt.Errorf("remoting client: %w", err)
	}
	n := int(binary.BigEndian.Uint32(head))
	if n < 4 || n > remoting.MaxFrameLength-4 {
		return nil, fmt.Errorf("remoting client: a frame of %d bytes", n)
	}
	frame := append(head, make([]byte, n)...)
	if _, err := io.ReadFull(c.nc, frame[4:]); err != nil {
		return nil, fmt.Errorf("remoting client: %w", err)
	}
	reply := new(remoting.Command)
	if err := remoting.Decode(frame, reply); err != nil {
		return nil, fmt.Errorf("remoting client: %w", err)
	}
	return reply, nil
}
