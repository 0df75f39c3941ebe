package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
)

func TestServe_ClientDoesNotRead_ClosedAtBound(t *testing.T) {
	t.Parallel()
	for _, code := range []int32{codeEcho, codeParts, codeWorker} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			var sent, released atomic.Int64
			closed := make(chan struct{})
			s := start(t, Options{MaxOutbound: 1 << 20, OnClose: func(remoting.Conn) { close(closed) }},
				testRoutes(nil, func() { released.Add(1) }))
			c := dial(t, s)
			frame := request(code, 1, 0, make([]byte, 256<<10))
			for {
				if _, err := c.Write(frame); err != nil {
					break
				}
				sent.Add(1)
			}
			select {
			case <-closed:
			case <-time.After(deadline):
				t.Fatal("the connection stays open")
			}
			if sent.Load() < 3 {
				t.Fatalf("closed after %d frames, below the bound", sent.Load())
			}
		})
	}
}

func TestConnections_FramesNeverMix(t *testing.T) {
	t.Parallel()
	s := start(t, Options{NumEventLoop: 2}, testRoutes(nil, nil))
	const conns, frames = 50, 100
	var wg sync.WaitGroup
	for n := range conns {
		c := dial(t, s)
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(n), 1))
			codes := []int32{codeEcho, codeParts, codeWorker}
			go func() {
				for i := range int32(frames) {
					body := make([]byte, 20_000)
					for j := 0; j < len(body); j += 8 {
						binary.LittleEndian.PutUint64(body[j:], rnd.Uint64())
					}
					binary.BigEndian.PutUint32(body, uint32(n))
					binary.BigEndian.PutUint32(body[4:], crc32.ChecksumIEEE(body[8:]))
					if _, err := c.Write(request(codes[i%3], i, 0, body)); err != nil {
						t.Errorf("write: %v", err)
						return
					}
				}
			}()
			seen := make(map[int32]bool)
			for range frames {
				got, err := c.receive()
				if err != nil {
					t.Errorf("receive: %v", err)
					return
				}
				if len(got.Body) != 20_000 || binary.BigEndian.Uint32(got.Body) != uint32(n) ||
					binary.BigEndian.Uint32(got.Body[4:]) != crc32.ChecksumIEEE(got.Body[8:]) || seen[got.Opaque] {
					t.Errorf("connection %d: foreign or broken body at opaque %d", n, got.Opaque)
					return
				}
				seen[got.Opaque] = true
			}
		})
	}
	wg.Wait()
}

func TestConnection_EndsOnce_OnCloseTold(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		end  func(*client)
	}{
		{"FIN", func(c *client) { _ = c.Close() }},
		{"RST", func(c *client) {
			_ = c.Conn.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}},
		{"half close", func(c *client) { _ = c.Conn.(*net.TCPConn).CloseWrite() }},
		{"malformed", func(c *client) { c.send([]byte{0xff, 0xff, 0xff, 0xff}) }},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			conns := make(chan remoting.Conn, 1)
			routes := append(testRoutes(nil, nil), remoting.Route{Code: 1000, Handler: func(ex *remoting.Exchange) error {
				conns <- ex.Conn
				return nil
			}})
			closed := make(chan remoting.Conn, 2)
			// Far above the deadline of the wait below: only the end itself can tell.
			s := start(t, Options{IdleTimeout: time.Hour, OnClose: func(c remoting.Conn) { closed <- c }}, routes)
			c := dial(t, s)
			c.send(request(1000, 1, 0, nil))
			c.mustReceive()
			opened := <-conns
			if got, want := opened.RemoteAddr().String(), c.LocalAddr().String(); got != want {
				t.Errorf("remote address %s, want %s", got, want)
			}
			if got, want := opened.LocalAddr().String(), c.RemoteAddr().String(); got != want {
				t.Errorf("local address %s, want %s", got, want)
			}
			tc.end(c)
			select {
			case got := <-closed:
				if got != opened || !got.Closed() {
					t.Errorf("OnClose for %v, closed %v", got.ID(), got.Closed())
				}
			case <-time.After(deadline):
				t.Fatal("no OnClose")
			}
			var released bool
			if err := opened.SendParts(nil, nil, func() { released = true }); !errors.Is(err, ErrClosed) || !released {
				t.Errorf("send after the end: %v, released %v", err, released)
			}
			within(t, "no connection is left", func() bool { return s.Connections() == 0 })
			if len(closed) != 0 {
				t.Error("OnClose twice")
			}
		})
	}
}

func TestConnection_Idle_Closed(t *testing.T) {
	t.Parallel()
	s := start(t, Options{IdleTimeout: 80 * time.Millisecond}, testRoutes(nil, nil))
	c := dial(t, s)
	// Who is kept waiting for that long is idle before its request or its answer is through.
	if _, err := c.Write(request(codeEcho, 1, 0, nil)); err == nil {
		_, _ = c.receive()
	}
	c.mustEnd()
}

func TestConnection_LocalAddr_IsTheOneReached(t *testing.T) {
	t.Parallel()
	routes := []remoting.Route{{Code: 1, Handler: func(ex *remoting.Exchange) error {
		ex.Reply.Remark = ex.Conn.LocalAddr().String()
		return nil
	}}}
	s := start(t, Options{Addr: ":0"}, routes)
	for _, ip := range []string{"127.0.0.1", "127.0.0.2"} {
		raw, err := net.Dial("tcp", netip.AddrPortFrom(netip.MustParseAddr(ip), s.Addr().Port()).String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = raw.Close() })
		c := &client{t: t, Conn: raw}
		c.in = dial(t, s).in
		c.in.Reset(raw)
		c.send(request(1, 1, 0, nil))
		if got := c.mustReceive().Remark; got != raw.RemoteAddr().String() {
			t.Errorf("reached %s, told %s", raw.RemoteAddr(), got)
		}
	}
}

func TestConnection_CloseAfterSend_FrameArrives(t *testing.T) {
	t.Parallel()
	routes := []remoting.Route{{Code: 1, Class: remoting.Query, Handler: func(ex *remoting.Exchange) error {
		_ = ex.Conn.Send(request(40, 77, remoting.FlagOneway, nil))
		ex.Conn.Close("done")
		return nil
	}}}
	c := dial(t, start(t, Options{}, routes))
	c.send(request(1, 1, 0, nil))
	if got := c.mustReceive(); got.Opaque != 77 {
		t.Fatalf("opaque %d", got.Opaque)
	}
	c.mustEnd()
}
