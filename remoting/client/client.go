package client

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
)

// ErrClosed is what calls fail with after Close.
var ErrClosed = errors.New("remoting client: connection closed")

// Conn is one connection. Calls may overlap; answers are matched by opaque. A connection
// that has failed once stays failed: dial anew.
type Conn struct {
	nc    net.Conn
	done  chan struct{} // closed by the reader when the connection is gone
	write sync.Mutex    // one frame at a time

	mu      sync.Mutex // guards what follows
	opaque  int32
	waiting map[int32]chan *remoting.Command
	err     error // why the connection is gone
}

// Dial connects to host:port.
func Dial(ctx context.Context, addr string) (*Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("remoting client: %w", err)
	}
	c := &Conn{nc: nc, done: make(chan struct{}), waiting: make(map[int32]chan *remoting.Command)}
	go c.read()
	return c, nil
}

// LocalAddr is our end of the connection.
func (c *Conn) LocalAddr() netip.AddrPort {
	addr, err := netip.ParseAddrPort(c.nc.LocalAddr().String())
	if err != nil {
		return netip.AddrPort{}
	}
	return addr
}

// Done is closed when the connection is gone, also while no call is made.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err tells why the connection is gone; nil while it lives.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close closes the connection and waits for its reader.
func (c *Conn) Close() error {
	err := c.fail(ErrClosed)
	<-c.done
	return err
}

// fail closes the socket, keeping the first reason.
func (c *Conn) fail(reason error) error {
	c.mu.Lock()
	first := c.err == nil
	if first {
		c.err = reason
	}
	c.mu.Unlock()
	if !first {
		return nil
	}
	return c.nc.Close()
}

// Call sends a request and waits for its reply until ctx ends. A reply with a code other than
// 0 is a *remoting.Error.
func (c *Conn) Call(ctx context.Context, code int32, ext *remoting.ExtWriter, body []byte) (*remoting.Command, error) {
	reply, err := c.Exchange(ctx, code, ext, body)
	if err != nil {
		return nil, err
	}
	return success(reply)
}

// Exchange is Call for who reads the header of a reply whatever its code is, as that of a pull that
// found nothing.
func (c *Conn) Exchange(ctx context.Context, code int32, ext *remoting.ExtWriter, body []byte) (*remoting.Command, error) {
	opaque, answer := c.expect()
	defer c.forget(opaque)
	if err := c.send(ctx, remoting.AppendRequest(nil, code, opaque, 0, ext, body)); err != nil {
		return nil, err
	}
	select {
	case reply := <-answer:
		return reply, nil
	case <-c.done:
		// The peer may close right after its answer.
		select {
		case reply := <-answer:
			return reply, nil
		default:
			return nil, c.Err()
		}
	case <-ctx.Done():
		return nil, fmt.Errorf("remoting client: request code %d: %w", code, ctx.Err())
	}
}

func success(reply *remoting.Command) (*remoting.Command, error) {
	if reply.Code != remoting.Success {
		return nil, &remoting.Error{Code: reply.Code, Remark: reply.Remark}
	}
	return reply, nil
}

func (c *Conn) expect() (int32, chan *remoting.Command) {
	answer := make(chan *remoting.Command, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opaque++
	c.waiting[c.opaque] = answer
	return c.opaque, answer
}

func (c *Conn) forget(opaque int32) {
	c.mu.Lock()
	delete(c.waiting, opaque)
	c.mu.Unlock()
}

func (c *Conn) send(ctx context.Context, frame []byte) error {
	c.write.Lock()
	defer c.write.Unlock()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Time{}
	}
	err := c.nc.SetWriteDeadline(deadline)
	if err == nil {
		_, err = c.nc.Write(frame)
	}
	if err == nil {
		return nil
	}
	// Half a frame may have left: nothing can follow it.
	_ = c.fail(fmt.Errorf("remoting client: %w", err))
	return c.Err()
}

func (c *Conn) read() {
	defer close(c.done)
	in := bufio.NewReader(c.nc)
	for {
		reply, err := readFrame(in)
		if err != nil {
			_ = c.fail(fmt.Errorf("remoting client: %w", err))
			return
		}
		if !reply.IsResponse() {
			continue
		}
		c.mu.Lock()
		answer := c.waiting[reply.Opaque]
		delete(c.waiting, reply.Opaque)
		c.mu.Unlock()
		if answer != nil {
			answer <- reply
		}
	}
}

func readFrame(in io.Reader) (*remoting.Command, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	n := int(int32(binary.BigEndian.Uint32(head)))
	if n < 4 || n > remoting.MaxFrameLength-4 {
		return nil, fmt.Errorf("a frame of %d bytes", n)
	}
	frame := append(head, make([]byte, n)...)
	if _, err := io.ReadFull(in, frame[4:]); err != nil {
		return nil, err
	}
	reply := new(remoting.Command)
	return reply, remoting.Decode(frame, reply)
}
