package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/remoting"
)

func TestServe_OneByteAtATime_Answers(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, Options{}, testRoutes(nil, nil)))
	frame := request(codeEcho, -7, 0, []byte("hello"))
	for i := range frame {
		c.send(frame[i : i+1])
	}
	got := c.mustReceive()
	if got.Opaque != -7 || !got.IsResponse() || string(got.Body) != "hello" {
		t.Fatalf("got opaque %d, flag %d, body %q", got.Opaque, got.Flag, got.Body)
	}
}

func TestServe_ManyFramesInOneWrite_AnswersAllInOrder(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, Options{}, testRoutes(nil, nil)))
	var all []byte
	const n = 2000
	// Some parts are too large to be copied.
	body := func(i int32) string { return fmt.Sprintf("body %d%s", i, strings.Repeat("x", int(i%5)*copiedParts/2)) }
	for i := range int32(n) {
		code := int32(codeEcho)
		if i%3 == 0 {
			code = codeParts
		}
		all = append(all, request(code, i, 0, []byte(body(i)))...)
	}
	go c.send(all)
	for i := range int32(n) {
		got := c.mustReceive()
		if got.Opaque != i || string(got.Body) != body(i) {
			t.Fatalf("reply %d: opaque %d, body of %d bytes", i, got.Opaque, len(got.Body))
		}
	}
}

func TestServe_LargeFrames_Echoed(t *testing.T) {
	t.Parallel()
	for _, code := range []int32{codeEcho, codeParts, codeWorker} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			var released atomic.Int32
			c := dial(t, start(t, Options{}, testRoutes(nil, func() { released.Add(1) })))
			body := bytes.Repeat([]byte("0123456789abcdef"), 12<<20/16)
			go c.send(request(code, 1, 0, body))
			if got := c.mustReceive(); !bytes.Equal(got.Body, body) {
				t.Fatalf("body of %d bytes differs", len(got.Body))
			}
			if code != codeEcho {
				within(t, "the parts are released", func() bool { return released.Load() == 1 })
			}
		})
	}
}

func TestServe_Oneway_NoReplyAndPartsReleased(t *testing.T) {
	t.Parallel()
	var released atomic.Int32
	c := dial(t, start(t, Options{}, testRoutes(nil, func() { released.Add(1) })))
	for _, code := range []int32{codeEcho, codeParts, codeWorker, codePanic, 12345} {
		c.send(request(code, code, remoting.FlagOneway, []byte("x")))
	}
	within(t, "both parts are released", func() bool { return released.Load() == 2 })
	c.send(request(codeEcho, 1, 0, nil))
	if got := c.mustReceive(); got.Opaque != 1 {
		t.Fatalf("a oneway request was answered: opaque %d", got.Opaque)
	}
}

func TestServe_Answers(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		code   int32
		want   int32
		remark string
	}{
		{"unknown code", 12345, remoting.RequestCodeNotSupported, " request type 12345 not supported"},
		{"panicking handler", codePanic, remoting.SystemError, "internal error, see the broker's log"},
		{"deferred", codeDefer, remoting.Success, "later"},
	}
	s := start(t, Options{}, testRoutes(nil, nil))
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := dial(t, s)
			c.send(request(tc.code, 5, 0, nil))
			got := c.mustReceive()
			if got.Code != tc.want || got.Remark != tc.remark || got.Opaque != 5 {
				t.Fatalf("got %d %q opaque %d", got.Code, got.Remark, got.Opaque)
			}
		})
	}
}

func TestServe_NotTheProtocol_ClosesWithoutAnswer(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		sent []byte
	}{
		{"length over 16 MiB", append([]byte{1, 0, 0, 1, 0, 0, 0, 100}, make([]byte, 100)...)},
		{"length negative", []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1}},
		{"header longer than frame", []byte{0, 0, 0, 8, 0, 0, 1, 0xf4, '{', '}', ' ', ' '}},
		{"serialize type 2", []byte{0, 0, 0, 6, 2, 0, 0, 2, '{', '}'}},
		{"header not JSON", append([]byte{0, 0, 0, 14, 0, 0, 0, 10}, "garbage!!!"...)},
		{"TLS", []byte{0x16, 3, 1, 0, 0xc8, 1, 0, 0}},
		{"HTTP", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")},
	}
	s := start(t, Options{}, testRoutes(nil, nil))
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := dial(t, s)
			c.send(tc.sent)
			c.mustEnd()
		})
	}
	t.Run("good, then garbage", func(t *testing.T) {
		c := dial(t, s)
		c.send(append(request(codeEcho, 3, 0, nil), 0xff, 0xff, 0xff, 0xff))
		if got := c.mustReceive(); got.Opaque != 3 {
			t.Fatalf("opaque %d", got.Opaque)
		}
		c.mustEnd()
	})
}

func TestServe_FrameOverOwnLimit_Closes(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, Options{MaxFrame: 1000}, testRoutes(nil, nil)))
	c.send(request(codeEcho, 1, 0, make([]byte, 500)))
	c.mustReceive()
	c.send(request(codeEcho, 2, 0, make([]byte, 1500)))
	c.mustEnd()
}

func TestServe_PoolFull_AnswersBusy(t *testing.T) {
	t.Parallel()
	block := make(chan struct{})
	var opts Options
	opts.Pools[remoting.Admin] = Pool{Workers: 1, Queue: 1}
	c := dial(t, start(t, opts, testRoutes(block, nil)))
	const n = 5
	for i := range int32(n) {
		c.send(request(codeBlock, i, 0, nil))
	}
	// One runs, one waits, and the rest is refused; which ones depends on the worker.
	for range n - 2 {
		got := c.mustReceive()
		if got.Code != remoting.SystemBusy || got.Remark != busyRemark {
			t.Fatalf("got %d %q, want SYSTEM_BUSY", got.Code, got.Remark)
		}
	}
	close(block)
	// The first may have been taken off the queue late: then a third was admitted no more.
	if got := c.mustReceive(); got.Code != remoting.Success {
		t.Fatalf("got %d %q after the worker was free", got.Code, got.Remark)
	}
}

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
		wg.Add(1)
		go func() {
			defer wg.Done()
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
		}()
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
	c.send(request(codeEcho, 1, 0, nil))
	c.mustReceive()
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

func TestCall(t *testing.T) {
	t.Parallel()
	conns := make(chan remoting.Conn, 1)
	routes := []remoting.Route{{Code: 1, Handler: func(ex *remoting.Exchange) error {
		conns <- ex.Conn
		return nil
	}}}
	stray := make(chan int32, 1)
	s := start(t, Options{OnResponse: func(_ remoting.Conn, cmd *remoting.Command) { stray <- cmd.Opaque }}, routes)
	c := dial(t, s)
	c.send(request(1, 1, 0, nil))
	c.mustReceive()
	conn := <-conns
	type result struct {
		cmd *remoting.Command
		err error
	}
	results := make(chan result, 1)
	call := func(ctx context.Context) {
		cmd, err := s.Call(ctx, conn, 307, nil, []byte("q"))
		results <- result{cmd, err}
	}

	go call(context.Background())
	asked := c.mustReceive()
	if asked.Code != 307 || asked.IsResponse() || asked.IsOneway() {
		t.Fatalf("asked %d with flag %d", asked.Code, asked.Flag)
	}
	c.send(request(0, 424242, remoting.FlagResponse, nil))
	if got := <-stray; got != 424242 {
		t.Fatalf("stray response %d", got)
	}
	c.send(request(0, asked.Opaque, remoting.FlagResponse, []byte("a")))
	if got := <-results; got.err != nil || string(got.cmd.Body) != "a" {
		t.Fatalf("got %+v", got)
	}

	ctx, cancel := context.WithCancel(context.Background())
	go call(ctx)
	c.mustReceive()
	cancel()
	if got := <-results; !errors.Is(got.err, context.Canceled) {
		t.Fatalf("cancelled call: %v", got.err)
	}

	go call(context.Background())
	c.mustReceive()
	_ = c.Close()
	if got := <-results; !errors.Is(got.err, ErrClosed) {
		t.Fatalf("call of a client that went: %v", got.err)
	}
}

func TestStart_PortTaken_ErrorNamesIt(t *testing.T) {
	t.Parallel()
	first := start(t, Options{}, nil)
	second, err := New(Options{Addr: first.Addr().String(), Router: first.opts.Router})
	if err != nil {
		t.Fatal(err)
	}
	err = second.Start()
	if err == nil || !strings.Contains(err.Error(), first.Addr().String()) {
		t.Fatalf("got %v, want an error with %s", err, first.Addr())
	}
	if err := second.Close(context.Background()); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func TestClose_FinishesRunningRequests(t *testing.T) {
	t.Parallel()
	block, running := make(chan struct{}), make(chan struct{})
	routes := []remoting.Route{{Code: 1, Class: remoting.Admin, Handler: func(ex *remoting.Exchange) error {
		close(running)
		<-block
		ex.Reply.Body = make([]byte, 4<<20)
		return nil
	}}}
	registry := prometheus.NewRegistry()
	s := start(t, Options{Metrics: registry}, routes)
	c := dial(t, s)
	c.send(request(1, 9, 0, nil))
	<-running
	closed := make(chan error, 1)
	go func() { closed <- s.Close(context.Background()) }()
	within(t, "the server is stopping", s.stopping.Load)
	close(block)
	if got := c.mustReceive(); got.Opaque != 9 || len(got.Body) != 4<<20 {
		t.Fatalf("opaque %d, body of %d bytes", got.Opaque, len(got.Body))
	}
	c.mustEnd()
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if families, err := registry.Gather(); err != nil || len(families) != 0 {
		t.Errorf("metrics are left: %d, %v", len(families), err)
	}
}

// TestClose_AnswersWhatIsDeferred: an answer that a handler sends later is waited for, and meanwhile
// only what is listed is refused; the rest gets no answer.
func TestClose_AnswersWhatIsDeferred(t *testing.T) {
	t.Parallel()
	pending := make(chan *remoting.Pending, 1)
	routes := append(testRoutes(nil, nil), remoting.Route{Code: 1, Handler: func(ex *remoting.Exchange) error {
		pending <- ex.Defer()
		return nil
	}})
	s := start(t, Options{RefusedAtStop: []int32{codeParts}}, routes)
	c := dial(t, s)
	c.send(request(1, 9, 0, nil))
	later := <-pending
	closed := make(chan error, 1)
	go func() { closed <- s.Close(context.Background()) }()
	within(t, "the server is stopping", s.stopping.Load)
	c.send(append(append(request(codeEcho, 10, 0, nil), request(codeParts, 11, remoting.FlagOneway, nil)...), request(codeParts, 12, 0, nil)...))
	if got := c.mustReceive(); got.Opaque != 12 || got.Code != remoting.ServiceNotAvailable || got.Remark != stoppingRemark {
		t.Errorf("opaque %d, code %d, remark %q; want 12, 14 and the reason", got.Opaque, got.Code, got.Remark)
	}
	later.Send()
	if got := c.mustReceive(); got.Opaque != 9 || got.Code != remoting.Success {
		t.Errorf("opaque %d, code %d; want 9, 0", got.Opaque, got.Code)
	}
	c.mustEnd()
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
}

func TestMetrics_CountConnectionsAndFrames(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	s := start(t, Options{Metrics: registry, Name: "a"}, testRoutes(nil, nil))
	c := dial(t, s)
	c.send(append(request(codeEcho, 1, 0, nil), request(codeEcho, 2, 0, nil)...))
	c.mustReceive()
	c.mustReceive()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		m := f.GetMetric()[0]
		got[f.GetName()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	if got["wheelmq_connections"] != 1 || got["wheelmq_frames_total"] != 2 {
		t.Fatalf("got %v", got)
	}
}
