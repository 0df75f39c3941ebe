package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Timeout bounds every call that brings no deadline of its own. It is generous
// because nothing is measured with it: a server that hangs fails a test, a
// busy machine does not.
const Timeout = time.Minute

// Conn is one connection to a name server or a broker. Its methods may be
// called from several goroutines.
type Conn struct {
	nc       net.Conn
	opaque   atomic.Int32
	write    sync.Mutex
	requests chan *Frame
	closed   chan struct{}

	mu      sync.Mutex
	waiting map[int32]chan *Frame
	err     error
}

// Dial connects to addr and closes the connection when the test ends.
func Dial(tb testing.TB, addr string) *Conn {
	tb.Helper()
	c, err := Open(addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// Open connects to addr; the caller closes.
func Open(addr string) (*Conn, error) {
	nc, err := net.DialTimeout("tcp", addr, Timeout)
	if err != nil {
		return nil, fmt.Errorf("wire: dial: %w", err)
	}
	c := &Conn{
		nc:       nc,
		requests: make(chan *Frame, 256),
		closed:   make(chan struct{}),
		waiting:  make(map[int32]chan *Frame),
	}
	go c.read()
	return c, nil
}

// Close ends the connection (FIN).
func (c *Conn) Close() { _ = c.nc.Close() }

// Closed is closed once the connection has ended, from either side.
func (c *Conn) Closed() <-chan struct{} { return c.closed }

// Requests are the frames that the server sent on its own account, such as the
// notification of a changed consumer group (40).
func (c *Conn) Requests() <-chan *Frame { return c.requests }

// Call sends a request and returns its answer, whatever the code. A broken
// connection or a missing answer ends the test.
func (c *Conn) Call(tb testing.TB, code int, ext map[string]string, body []byte) *Frame {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), Timeout)
	defer cancel()
	answer, err := c.Do(ctx, code, ext, body)
	if err != nil {
		tb.Fatalf("request %d: %v", code, err)
	}
	return answer
}

// Do sends a request with a JSON header and waits for its answer.
func (c *Conn) Do(ctx context.Context, code int, ext map[string]string, body []byte) (*Frame, error) {
	return c.exchange(ctx, &Frame{Code: code, Ext: ext, Body: body}, (*Frame).Encode)
}

// DoBinary is Do with a ROCKETMQ header.
func (c *Conn) DoBinary(ctx context.Context, code int, ext map[string]string, body []byte) (*Frame, error) {
	return c.exchange(ctx, &Frame{Code: code, Ext: ext, Body: body},
		func(f *Frame) ([]byte, error) { return f.EncodeBinary(), nil })
}

// Oneway sends a request that is never answered.
func (c *Conn) Oneway(code int, ext map[string]string, body []byte) error {
	f := &Frame{Code: code, Flag: FlagOneway, Opaque: c.opaque.Add(1), Ext: ext, Body: body}
	b, err := f.Encode()
	if err != nil {
		return err
	}
	return c.Write(b)
}

// Answer answers a request of the server's.
func (c *Conn) Answer(tb testing.TB, request *Frame, code int, remark string) {
	tb.Helper()
	b, err := (&Frame{Code: code, Flag: FlagResponse, Opaque: request.Opaque, Remark: remark}).Encode()
	if err == nil {
		err = c.Write(b)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// Write sends bytes as they are.
func (c *Conn) Write(b []byte) error {
	c.write.Lock()
	defer c.write.Unlock()
	if _, err := c.nc.Write(b); err != nil {
		return fmt.Errorf("wire: write: %w", err)
	}
	return nil
}

func (c *Conn) exchange(ctx context.Context, f *Frame, encode func(*Frame) ([]byte, error)) (*Frame, error) {
	f.Opaque = c.opaque.Add(1)
	b, err := encode(f)
	if err != nil {
		return nil, err
	}
	answer := make(chan *Frame, 1)
	c.mu.Lock()
	c.waiting[f.Opaque] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, f.Opaque)
		c.mu.Unlock()
	}()
	if err := c.Write(b); err != nil {
		return nil, err
	}
	select {
	case got := <-answer:
		return got, nil
	case <-c.closed:
		// The answer and the end may have come together.
		select {
		case got := <-answer:
			return got, nil
		default:
		}
		return nil, c.ended()
	case <-ctx.Done():
		return nil, fmt.Errorf("wire: no answer to request %d: %w", f.Code, ctx.Err())
	}
}

// read hands answers to their callers and requests of the server to Requests.
func (c *Conn) read() {
	defer close(c.closed)
	r := bufio.NewReaderSize(c.nc, 64<<10)
	for {
		f, err := ReadFrame(r)
		if err != nil {
			c.mu.Lock()
			c.err = err
			c.mu.Unlock()
			c.Close()
			return
		}
		if !f.IsResponse() {
			select {
			case c.requests <- f:
			default: // nobody of this test is interested
			}
			continue
		}
		c.mu.Lock()
		answer := c.waiting[f.Opaque]
		delete(c.waiting, f.Opaque)
		c.mu.Unlock()
		if answer != nil {
			answer <- f
		}
	}
}

func (c *Conn) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(errors.New("wire: the connection ended"), c.err)
}
