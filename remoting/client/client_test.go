package client

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const deadline = await.Patience

// pipe returns a Conn and the server's end of it.
func pipe(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Dial(context.Background(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); _ = peer.Close() })
	_ = peer.SetDeadline(time.Now().Add(deadline))
	return c, peer
}

type result struct {
	cmd *remoting.Command
	err error
}

func call(ctx context.Context, c *Conn, body string) chan result {
	done := make(chan result, 1)
	go func() {
		cmd, err := c.Call(ctx, 105, nil, []byte(body))
		done <- result{cmd, err}
	}()
	return done
}

func answer(t *testing.T, peer net.Conn, code, opaque, flag int32, body []byte) {
	t.Helper()
	if _, err := peer.Write(remoting.AppendCommand(nil, &remoting.Command{Code: code, Opaque: opaque, Flag: flag, Body: body})); err != nil {
		t.Fatal(err)
	}
}

func TestCall_AnswersOutOfOrder_MatchedByOpaque(t *testing.T) {
	t.Parallel()
	c, peer := pipe(t)
	first := call(context.Background(), c, "1")
	one, err := readFrame(peer)
	if err != nil {
		t.Fatal(err)
	}
	second := call(context.Background(), c, "2")
	two, err := readFrame(peer)
	if err != nil {
		t.Fatal(err)
	}
	answer(t, peer, 40, 99, 0, nil)                    // a push
	answer(t, peer, 0, 99, remoting.FlagResponse, nil) // nobody's
	answer(t, peer, 0, two.Opaque, remoting.FlagResponse, two.Body)
	answer(t, peer, 17, one.Opaque, remoting.FlagResponse, nil)
	if got := <-second; got.err != nil || string(got.cmd.Body) != "2" {
		t.Errorf("second: %+v", got)
	}
	var refused *remoting.Error
	if got := <-first; !errors.As(got.err, &refused) || refused.Code != 17 {
		t.Errorf("first: %+v", got)
	}
}

func TestCall_Fails(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		do   func(c *Conn, peer net.Conn, cancel func())
		want error
	}{
		{"context ends", func(_ *Conn, _ net.Conn, cancel func()) { cancel() }, context.Canceled},
		{"peer closes", func(_ *Conn, peer net.Conn, _ func()) { _ = peer.Close() }, io.EOF},
		{"closed by us", func(c *Conn, _ net.Conn, _ func()) { _ = c.Close() }, ErrClosed},
		{"not a frame", func(_ *Conn, peer net.Conn, _ func()) { _, _ = peer.Write([]byte{0, 0, 0, 6, 0, 0, 0, 2, '{', 'x'}) }, remoting.ErrFrame},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, peer := pipe(t)
			ctx, cancel := context.WithTimeout(context.Background(), deadline)
			defer cancel()
			done := call(ctx, c, "")
			if _, err := readFrame(peer); err != nil {
				t.Fatal(err)
			}
			tc.do(c, peer, cancel)
			if got := <-done; !errors.Is(got.err, tc.want) {
				t.Errorf("got %v, want %v", got.err, tc.want)
			}
		})
	}
}

func TestDone_PeerCloses_ToldWithoutACall(t *testing.T) {
	t.Parallel()
	c, peer := pipe(t)
	if c.Err() != nil {
		t.Fatal(c.Err())
	}
	_ = peer.Close()
	select {
	case <-c.Done():
	case <-time.After(deadline):
		t.Fatal("not told")
	}
	if !errors.Is(c.Err(), io.EOF) {
		t.Errorf("got %v", c.Err())
	}
}

func TestCall_PeerClosesAfterItsAnswer_Answered(t *testing.T) {
	t.Parallel()
	for range 50 {
		c, peer := pipe(t)
		done := call(context.Background(), c, "")
		req, err := readFrame(peer)
		if err != nil {
			t.Fatal(err)
		}
		answer(t, peer, 0, req.Opaque, remoting.FlagResponse, []byte("last"))
		_ = peer.Close()
		if got := <-done; got.err != nil || string(got.cmd.Body) != "last" {
			t.Fatalf("got %+v", got)
		}
	}
}
