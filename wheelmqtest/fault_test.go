package wheelmqtest_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/client"
	"github.com/wheelmq/wheelmq/wheelmqtest"
)

// sender sends to orders over one connection, anew when it was closed.
type sender struct {
	t    *testing.T
	addr string
	conn *client.Conn
}

// send tells what became of a message; it waits for an answer until ctx ends.
func (s *sender) send(ctx context.Context) error {
	if s.conn == nil {
		c, err := client.Dial(s.t.Context(), s.addr)
		if err != nil {
			s.t.Error(err)
			return err
		}
		s.conn = c
	}
	var ext remoting.ExtWriter
	header := remoting.SendMessageRequest{
		ProducerGroup: []byte("P"), Topic: []byte("orders"), DefaultTopic: []byte("TBW102"), DefaultTopicQueueNums: 1, BornTimestamp: 1,
		MaxReconsumeTimes: -1,
	}
	header.EncodeV2(&ext)
	_, err := s.conn.Call(ctx, remoting.SendMessageV2, &ext, []byte("body"))
	if s.conn.Err() != nil {
		s.conn = nil
	}
	return err
}

func (s *sender) close() {
	if s.conn != nil {
		_ = s.conn.Close()
	}
}

// Senders on many connections, a few of whose requests fail in every way at once: each rule
// applies exactly as often as it says, and what is stored is what was executed.
func TestFault_ManySenders(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]wheelmqtest.Option{"ASYNC_FLUSH": nil, "SYNC_FLUSH": {wheelmqtest.SyncFlush(), wheelmqtest.Set("syncFlushTimeout=120000")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const senders, each, count = 6, 60, 5
			mq := wheelmqtest.Start(t, append([]wheelmqtest.Option{wheelmqtest.Topic("orders", 1)}, opts...)...)
			rule := func(skip int, r wheelmqtest.Rule) *wheelmqtest.Fault {
				r.Code, r.Topic, r.Skip, r.Count = wheelmqtest.SendMessageV2, "orders", skip, count
				return mq.Fault(r)
			}
			// Late enough that no answer that says busy is dropped.
			faults := []*wheelmqtest.Fault{
				rule(20, wheelmqtest.Rule{Respond: wheelmqtest.SystemBusy}), rule(20, wheelmqtest.Rule{CloseConn: true}),
				rule(150, wheelmqtest.Rule{DropReply: true}), rule(100, wheelmqtest.Rule{Delay: 50 * time.Millisecond}),
			}
			var busy, other atomic.Int64
			var all sync.WaitGroup
			hung := &patience{dropped: faults[2]}
			for range senders {
				all.Go(func() {
					s := &sender{t: t, addr: mq.BrokerAddr()}
					defer s.close()
					for range each {
						var refusal *remoting.Error
						if err := hung.wait(t.Context(), s.send); errors.As(err, &refusal) {
							busy.Add(1)
						} else if err != nil {
							other.Add(1)
						}
					}
				})
			}
			hung.watch(&all)
			for _, f := range faults {
				if f.Hits() != count {
					t.Errorf("%s applied %d times", f.ID(), f.Hits())
				}
			}
			// A client loses a request that was closed or dropped, and those of its connection.
			if busy.Load() != count || other.Load() != 2*count {
				t.Errorf("%d busy, %d without an answer", busy.Load(), other.Load())
			}
			if stored := len(mq.Messages("orders")); stored != senders*each-2*count {
				t.Errorf("%d messages are stored, want %d", stored, senders*each-2*count)
			}
		})
	}
}

// patience ends the waiting for answers that were dropped: once nobody waits for another.
type patience struct {
	dropped *wheelmqtest.Fault
	mu      sync.Mutex
	waiting map[int]context.CancelFunc
	calls   int
	gaveUp  int // dropped answers that nobody waits for any more
}

// wait makes a call that is given up when its answer was dropped.
func (p *patience) wait(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.mu.Lock()
	id := p.calls
	if p.calls++; p.waiting == nil {
		p.waiting = make(map[int]context.CancelFunc)
	}
	p.waiting[id] = cancel
	p.mu.Unlock()
	err := call(ctx)
	p.mu.Lock()
	delete(p.waiting, id)
	p.mu.Unlock()
	return err
}

// watch gives up what has to be until all have ended.
func (p *patience) watch(all *sync.WaitGroup) {
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	for {
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
			p.giveUp()
		}
	}
}

func (p *patience) giveUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.dropped.Hits() - p.gaveUp; n == 0 || n != len(p.waiting) {
		return
	}
	p.gaveUp += len(p.waiting)
	for id, cancel := range p.waiting {
		cancel()
		delete(p.waiting, id)
	}
}

// A server stops at once though an answer is held back for long.
func TestFault_StopWithHeldAnswer(t *testing.T) {
	t.Parallel()
	for i := range 3 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			mq := wheelmqtest.Start(t, wheelmqtest.Topic("orders", 1))
			f := mq.Fault(wheelmqtest.Rule{Delay: time.Hour})
			s := &sender{t: t, addr: mq.BrokerAddr()}
			defer s.close()
			ctx, giveUp := context.WithCancel(t.Context())
			sent := make(chan error)
			go func() { sent <- s.send(ctx) }()
			f.Wait(1, await.Patience)
			giveUp()
			if err := <-sent; !errors.Is(err, context.Canceled) {
				t.Errorf("answered: %v", err)
			}
			mq.Restart()
			f.Remove()
			if err := (&sender{t: t, addr: mq.BrokerAddr()}).sendOnce(); err != nil {
				t.Error(err)
			}
		})
	}
}

func (s *sender) sendOnce() error {
	defer s.close()
	ctx, cancel := await.Context()
	defer cancel()
	return s.send(ctx)
}
