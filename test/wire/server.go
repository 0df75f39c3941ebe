package wire

import (
	"bufio"
	"net"
	"sync"
	"testing"
)

// Server answers requests as a name server or broker would, for tests that
// look at what a broker sends to others.
type Server struct {
	// Addr is host:port.
	Addr string

	handle func(*Frame) *Frame

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]struct{}
	wg       sync.WaitGroup
}

// Listen serves on addr ("127.0.0.1:0" picks a port). handle gets every request
// and returns its answer without opaque and flag.
func Listen(tb testing.TB, addr string, handle func(*Frame) *Frame) *Server {
	tb.Helper()
	s := &Server{Addr: addr, handle: handle, conns: make(map[net.Conn]struct{})}
	s.Resume(tb)
	tb.Cleanup(s.Pause)
	return s
}

// Resume listens again on the same address after Pause.
func (s *Server) Resume(tb testing.TB) {
	tb.Helper()
	l, err := net.Listen("tcp", s.Addr)
	if err != nil {
		tb.Fatal(err)
	}
	s.Addr = l.Addr().String()
	s.mu.Lock()
	s.listener = l
	s.mu.Unlock()
	s.wg.Go(func() { s.accept(l) })
}

// Pause closes the listener and every connection, as a crash would.
func (s *Server) Pause() {
	s.mu.Lock()
	_ = s.listener.Close()
	for c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *Server) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns[c] = struct{}{}
		s.mu.Unlock()
		s.wg.Go(func() { s.serve(c) })
	}
}

func (s *Server) serve(c net.Conn) {
	defer func() {
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
		_ = c.Close()
	}()
	r := bufio.NewReader(c)
	for {
		request, err := ReadFrame(r)
		if err != nil {
			return
		}
		answer := s.handle(request)
		if request.Flag&FlagOneway != 0 || answer == nil {
			continue
		}
		answer.Opaque, answer.Flag = request.Opaque, FlagResponse
		b, err := answer.Encode()
		if err != nil {
			return
		}
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}
