package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/client"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// ErrNotFound is wrapped for a topic, group or message that does not exist.
var ErrNotFound = errors.New("not found")

// UnreachableError tells that nobody answered at an address.
type UnreachableError struct {
	Addr string // host:port
	Err  error
}

// Error implements error.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s does not answer: %v", e.Addr, e.Err)
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// DefaultTimeout bounds one request.
const DefaultTimeout = 5 * time.Second

// Options are what a Client needs.
type Options struct {
	NameServers []string      // host:port, asked in this order
	Timeout     time.Duration // of one request; 0: DefaultTimeout
}

// Client asks. It keeps one connection to each server; its methods may be called at the same time.
type Client struct {
	opts Options

	mu    sync.Mutex // guards conns
	conns map[string]*client.Conn
}

// New returns a Client that is connected to nobody yet.
func New(opts Options) *Client {
	if opts.Timeout <= 0 {
		opts.Timeout = DefaultTimeout
	}
	return &Client{opts: opts, conns: make(map[string]*client.Conn)}
}

// ParseNameServers reads "host:port;host:port", RocketMQ's form of namesrvAddr.
func ParseNameServers(text string) (addrs []string, err error) {
	for addr := range strings.SplitSeq(text, ";") {
		if addr = strings.TrimSpace(addr); addr == "" {
			continue
		}
		if !strings.Contains(addr, ":") {
			return nil, fmt.Errorf("admin: name server %q: want host:port", addr)
		}
		addrs = append(addrs, addr)
	}
	if len(addrs) == 0 {
		return nil, errors.New("admin: no name server is named: want host:port")
	}
	return addrs, nil
}

// Close closes all connections.
func (c *Client) Close() error {
	c.mu.Lock()
	conns := c.conns
	c.conns = make(map[string]*client.Conn)
	c.mu.Unlock()
	var errs []error
	for _, conn := range conns {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}

// conn is the connection to a server, a new one when the last one is gone.
func (c *Client) conn(ctx context.Context, addr string) (*client.Conn, error) {
	c.mu.Lock()
	conn := c.conns[addr]
	c.mu.Unlock()
	if conn != nil && conn.Err() == nil {
		return conn, nil
	}
	conn, err := client.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.conns[addr]; other != nil && other.Err() == nil {
		return other, conn.Close()
	}
	c.conns[addr] = conn
	return conn, nil
}

// header is a typed request header.
type header interface{ Encode(w *remoting.ExtWriter) }

// exchange sends one request and returns the answer, whatever its code is.
func (c *Client) exchange(ctx context.Context, addr string, code int32, h header, body []byte) (*remoting.Command, error) {
	return c.patiently(ctx, addr, code, h, body, 0)
}

// patiently is exchange with a server that may hold the request for a while.
func (c *Client) patiently(ctx context.Context, addr string, code int32, h header, body []byte, held time.Duration) (*remoting.Command, error) {
	var ext remoting.ExtWriter
	if h != nil {
		h.Encode(&ext)
	}
	dialing, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	conn, err := c.conn(dialing, addr)
	if err != nil {
		return nil, &UnreachableError{addr, err}
	}
	waiting, cancel := context.WithTimeout(ctx, c.opts.Timeout+held)
	defer cancel()
	reply, err := conn.Exchange(waiting, code, &ext, body)
	if err != nil {
		return nil, &UnreachableError{addr, err}
	}
	return reply, nil
}

// ask is exchange that takes nothing but success. A refusal is a *remoting.Error.
func (c *Client) ask(ctx context.Context, addr string, code int32, h header, body []byte) (*remoting.Command, error) {
	reply, err := c.exchange(ctx, addr, code, h, body)
	return succeeded(reply, err)
}

// askPatiently is ask without a body, of a server that may work on the request for a while.
func (c *Client) askPatiently(ctx context.Context, addr string, code int32, h header, work time.Duration) (*remoting.Command, error) {
	reply, err := c.patiently(ctx, addr, code, h, nil, work)
	return succeeded(reply, err)
}

// succeeded makes an error of an answer that is a refusal.
func succeeded(reply *remoting.Command, err error) (*remoting.Command, error) {
	if err != nil {
		return nil, err
	}
	if reply.Code != remoting.Success {
		return nil, &remoting.Error{Code: reply.Code, Remark: firstLine(reply.Remark)}
	}
	return reply, nil
}

// read is ask for a JSON body.
func (c *Client) read(ctx context.Context, addr string, code int32, h header, got any) error {
	reply, err := c.ask(ctx, addr, code, h, nil)
	if err != nil {
		return err
	}
	if len(reply.Body) == 0 {
		return nil
	}
	if err := fastjson.Unmarshal(reply.Body, got); err != nil {
		return fmt.Errorf("admin: the answer of %s to request code %d: %w", addr, code, err)
	}
	return nil
}

// readNameServer is read from the first name server that answers.
func (c *Client) readNameServer(ctx context.Context, code int32, h header, got any) error {
	var errs []error
	for _, addr := range c.opts.NameServers {
		err := c.read(ctx, addr, code, h, got)
		var gone *UnreachableError
		if err == nil || !errors.As(err, &gone) {
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// firstLine leaves out what the real server's remarks say of web pages.
func firstLine(remark string) string {
	line, _, _ := strings.Cut(remark, "\n")
	return strings.TrimSpace(line)
}

// hasCode tells whether a server refused with one of some codes.
func hasCode(err error, codes ...int32) bool {
	var refusal *remoting.Error
	return errors.As(err, &refusal) && slices.Contains(codes, refusal.Code)
}
