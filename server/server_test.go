package server

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

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
