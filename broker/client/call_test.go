package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/remoting"
)

// asked is a connection whose client answers what the test says.
type asked struct {
	conn
	answer func(ctx context.Context, code int32) (*remoting.Command, error)
}

func (a *asked) Call(ctx context.Context, code int32, _ *remoting.ExtWriter, _ []byte) (*remoting.Command, error) {
	return a.answer(ctx, code)
}

func silent(ctx context.Context, _ int32) (*remoting.Command, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

type heard struct {
	answer *remoting.Command
	err    error
}

func ask(t *testing.T, r *client.Registry, c remoting.Conn, within time.Duration) chan heard {
	t.Helper()
	got := make(chan heard, 1)
	q := client.Question{Code: remoting.GetConsumerRunningInfo, Within: within}
	err := r.Ask(c, &q, func(answer *remoting.Command, err error) { got <- heard{answer, err} })
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAsk(t *testing.T) {
	t.Parallel()
	r := open(t, clock.NewVirtual(0))
	answers := func(_ context.Context, code int32) (*remoting.Command, error) {
		return &remoting.Command{Code: code}, nil
	}
	if got := <-ask(t, r, &asked{answer: answers}, 0); got.err != nil || got.answer.Code != remoting.GetConsumerRunningInfo {
		t.Errorf("%+v", got)
	}
	if got := <-ask(t, r, &asked{answer: silent}, time.Millisecond); !errors.Is(got.err, context.DeadlineExceeded) {
		t.Errorf("a silent client: %v", got.err)
	}
	if got := <-ask(t, r, &conn{}, 0); got.err == nil {
		t.Error("a connection without calls answers")
	}
}

func TestCloseEndsCalls(t *testing.T) {
	t.Parallel()
	r := open(t, clock.NewVirtual(0))
	got := ask(t, r, &asked{answer: silent}, time.Hour)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case h := <-got:
		if !errors.Is(h.err, context.Canceled) {
			t.Errorf("the call ended with %v", h.err)
		}
	default:
		t.Error("Close did not wait for the call")
	}
	if err := r.Ask(&asked{}, &client.Question{}, nil); !errors.Is(err, client.ErrStopping) {
		t.Errorf("a call after Close: %v", err)
	}
}
