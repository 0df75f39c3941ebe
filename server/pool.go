package server

import (
	"sync"

	"github.com/wheelmq/wheelmq/remoting"
)

// maxKeptBuffer is the largest buffer that is kept for reuse, bytes.
const maxKeptBuffer = 1 << 20

// busyRemark is what clients of RocketMQ look for in a SYSTEM_BUSY answer.
const busyRemark = "[OVERLOAD]system busy, start flow control for a while"

// task is a request on its way to a worker, with its own copy of the frame.
type task struct {
	conn  *conn
	frame []byte
	// received is when the request was read, ms; 0 without an observer.
	received int64
	ex       remoting.Exchange
}

var tasks = sync.Pool{New: func() any { return new(task) }}

func newTask(c *conn, frame []byte) *task {
	t := tasks.Get().(*task)
	t.conn, t.received = c, c.loop.received
	t.frame = append(t.frame[:0], frame...)
	return t
}

func (t *task) free() {
	if cap(t.frame) > maxKeptBuffer {
		t.frame = nil
	}
	t.conn = nil
	t.ex.Begin(nil)
	tasks.Put(t)
}

// pool runs the requests of one class on a fixed number of goroutines.
type pool struct {
	tasks chan *task
	quit  chan struct{}
	wg    sync.WaitGroup
}

func newPool(bounds Pool, serve func(*task)) *pool {
	p := &pool{tasks: make(chan *task, bounds.Queue), quit: make(chan struct{})}
	p.wg.Add(bounds.Workers)
	for range bounds.Workers {
		go p.work(serve)
	}
	return p
}

// submit hands a task over and reports false when the queue is full.
func (p *pool) submit(t *task) bool {
	select {
	case p.tasks <- t:
		return true
	default:
		return false
	}
}

func (p *pool) work(serve func(*task)) {
	defer p.wg.Done()
	for {
		select {
		case t := <-p.tasks:
			serve(t)
		case <-p.quit:
			p.drain(serve)
			return
		}
	}
}

func (p *pool) drain(serve func(*task)) {
	for {
		select {
		case t := <-p.tasks:
			serve(t)
		default:
			return
		}
	}
}

// Waiting is how many requests of a class wait for a worker.
func (s *Server) Waiting(class remoting.Class) int {
	if p := s.pools[class]; p != nil {
		return len(p.tasks)
	}
	return 0
}

// stop lets the workers finish what is queued and end; wait waits for that.
func (p *pool) stop() { close(p.quit) }
func (p *pool) wait() { p.wg.Wait() }
