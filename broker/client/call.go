package client

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/remoting"
)

// maxCalls is how many calls to clients may wait for their answers at once.
const maxCalls = 10_000

// Errors of Registry.Ask; those of a call itself wrap the server's, or context.DeadlineExceeded.
var (
	// ErrManyCalls tells that too many calls wait already.
	ErrManyCalls = errors.New("too many calls to clients wait for their answers")
	// ErrStopping tells that the broker stops.
	ErrStopping = errors.New("the broker is stopping")
)

// caller is a connection whose client can be asked: one of package server.
type caller interface {
	Call(ctx context.Context, code int32, ext *remoting.ExtWriter, body []byte) (*remoting.Command, error)
}

// Question is a request of the broker's own to a client, whose answer it waits for.
type Question struct {
	Code   int32
	Ext    remoting.ExtWriter
	Body   []byte        // must not change until the answer is there
	Within time.Duration // real time until context.DeadlineExceeded; 0: 10 s, as the real broker waits
}

// defaultWithin is how long the real broker waits for a client's answer (RocketMQ 5.5.0).
const defaultWithin = 10 * time.Second

// Call asks the client at a connection and waits for the answer, which is the caller's to keep. It
// fails when ctx or the question's time ends, or the connection does. It blocks: on a worker, or a
// goroutine of its own, never on an event loop.
func Call(ctx context.Context, conn remoting.Conn, q *Question) (*remoting.Command, error) {
	c, ok := conn.(caller)
	if !ok {
		return nil, fmt.Errorf("client: %s cannot be asked", conn.RemoteAddr())
	}
	within := q.Within
	if within <= 0 {
		within = defaultWithin
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answer, err := c.Call(ctx, q.Code, &q.Ext, q.Body)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return answer, nil
}

// Ask is Call for a handler that defers its answer: it returns at once, and done is called once, on
// another goroutine, with what Call returns. When Ask fails itself (ErrManyCalls, ErrStopping),
// done is not called. Close ends the calls and waits for what done does.
func (r *Registry) Ask(conn remoting.Conn, q *Question, done func(answer *remoting.Command, err error)) error {
	return r.calls.ask(conn, q, done)
}

// calls are those of Ask whose answers are waited for.
type calls struct {
	log logrus.FieldLogger

	mu    sync.Mutex      // guards count, and ctx against ask
	count int             // of those that wait
	ctx   context.Context // of every call
	stop  context.CancelFunc
	wg    sync.WaitGroup
}

func (c *calls) begin(log logrus.FieldLogger) {
	c.log = log
	c.ctx, c.stop = context.WithCancel(context.Background())
}

func (c *calls) ask(conn remoting.Conn, q *Question, done func(answer *remoting.Command, err error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ctx.Err() != nil:
		return ErrStopping
	case c.count >= maxCalls:
		return ErrManyCalls
	}
	c.count++
	c.wg.Go(func() {
		defer c.asked()
		done(Call(c.ctx, conn, q))
	})
	return nil
}

// asked ends a call, and keeps a panic in what it did from ending the process.
func (c *calls) asked() {
	if p := recover(); p != nil {
		c.log.WithFields(logrus.Fields{"panic": p, "stack": string(debug.Stack())}).Error("panic after a call to a client")
	}
	c.mu.Lock()
	c.count--
	c.mu.Unlock()
}

// end ends the calls that wait, and lets no more begin.
func (c *calls) end() {
	c.mu.Lock()
	c.stop()
	c.mu.Unlock()
	c.wg.Wait()
}

// waiting is how many calls wait for an answer.
func (c *calls) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}
