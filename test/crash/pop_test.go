package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

const (
	popTopic     = "crash-pop"
	popGroup     = "crash-poppers"
	popConsumers = 4
)

// delivery is one time that a consumer got a message.
type delivery struct {
	popTime int64 // ms, the server's clock
	due     int64 // when it is visible again
	stored  int64 // when what was delivered was stored, ms
	retry   bool  // it came from the retry topic
	ended   bool  // acknowledged before it was due, and the answer came
	tried   bool  // acknowledged
	unsure  bool  // what it asked for may have been done or not: no answer came, or late
}

// poppers are consumers that pop one topic, and what each message went through.
type poppers struct {
	target *peer.Target
	total  int

	mu     sync.Mutex // guards what follows
	got    map[string][]*delivery
	done   int // messages that are acknowledged, for all that is known
	kills  atomic.Int64
	killed []int64 // from the kill to the first answer, ms
}

// TestPopKill has four consumers pop, acknowledge, give back, extend and forget messages at random while
// the server is killed once: every message is acknowledged at last, none comes again that was
// acknowledged, and none before it is visible again.
//
// WHEELMQ_POP_MESSAGES is how many messages there are (20,000).
func TestPopKill(t *testing.T) {
	t.Parallel()
	total := 20_000
	if text := os.Getenv("WHEELMQ_POP_MESSAGES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1000 {
			t.Fatalf("WHEELMQ_POP_MESSAGES=%q: want a number of messages", text)
		}
		total = n
	}
	p := &poppers{total: total, got: make(map[string][]*delivery)}
	p.target = peer.StartTarget(t, map[string]string{"flushDiskType": "ASYNC_FLUSH"})
	if p.target.Kind == peer.Real {
		t.Skip("the real broker loses what is in flight at a kill, and comes back late")
	}
	wire.Dial(t, p.target.BrokerAddr).MustCreateTopic(t, popTopic, queues)
	p.sendAll(t)
	var wg sync.WaitGroup
	for i := range popConsumers {
		wg.Go(func() { p.consume(rand.New(rand.NewPCG(*seed, uint64(i)))) })
	}
	p.await(t, total/2)
	from := time.Now().UnixMilli()
	p.target.Kill()
	p.target.Launch()
	p.killed = []int64{from, time.Now().UnixMilli()}
	p.await(t, total)
	time.Sleep(6 * time.Second) // what nobody is sure of comes again, when it does
	p.kills.Store(-1)
	wg.Wait()
	p.verify(t)
}

func (p *poppers) sendAll(t *testing.T) {
	t.Helper()
	conn := wire.Dial(t, p.target.BrokerAddr)
	for n := 0; n < p.total; {
		var items []wire.BatchItem
		for ; len(items) < 100 && n < p.total; n++ {
			items = append(items, wire.BatchItem{Body: fmt.Appendf(nil, "p-%d", n)})
		}
		if answer := conn.SendBatch(t, wire.Send{Topic: popTopic, QueueID: n / 100 % queues}, items...); answer.Code != wire.Success {
			t.Fatalf("send: %d %s", answer.Code, answer.Remark)
		}
	}
}

// await waits until so many messages are acknowledged.
func (p *poppers) await(t *testing.T, n int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute + time.Duration(p.total/500)*time.Second)
	for {
		p.mu.Lock()
		done := p.done
		p.mu.Unlock()
		if done >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d messages are acknowledged", done, p.total)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// consume pops until all is done. A connection that ends is dialled again.
func (p *poppers) consume(rng *rand.Rand) {
	for p.kills.Load() == 0 {
		conn, err := wire.Open(p.target.BrokerAddr)
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		for err == nil && p.kills.Load() == 0 {
			err = p.popOnce(conn, rng)
		}
		conn.Close()
	}
}

func (p *poppers) popOnce(conn *wire.Conn, rng *rand.Rand) error {
	ctx, cancel := context.WithTimeout(context.Background(), wire.Timeout)
	defer cancel()
	invisible := []time.Duration{300 * time.Millisecond, time.Second, 3 * time.Second}[rng.IntN(3)]
	got, err := conn.Pop(ctx, wire.Pop{Group: popGroup, Topic: popTopic, QueueID: wire.AnyQueue, Invisible: invisible, Poll: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	for i := range got.Messages {
		m := &got.Messages[i]
		d := p.note(m, got.PopTime, got.PopTime+got.InvisibleTime)
		if err := p.handle(ctx, conn, rng, m, d); err != nil {
			return err
		}
	}
	return nil
}

// note notes a delivery.
func (p *poppers) note(m *wire.PoppedMessage, popTime, due int64) *delivery {
	d := &delivery{popTime: popTime, due: due, stored: m.StoreTimestamp, retry: m.Stored != popTopic}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got[string(m.Body)] = append(p.got[string(m.Body)], d)
	return d
}

// handle acknowledges most messages, gives some back, keeps some for longer and forgets the rest.
func (p *poppers) handle(ctx context.Context, conn *wire.Conn, rng *rand.Rand, m *wire.PoppedMessage, d *delivery) error {
	switch n := rng.IntN(100); {
	case n < 4:
		return nil
	case n < 8:
		return p.change(ctx, conn, m, d, int64(rng.IntN(2)*10))
	case n < 12:
		if err := p.change(ctx, conn, m, d, 200+int64(rng.IntN(2000))); err != nil || rng.IntN(2) == 0 {
			return err
		}
	}
	return p.end(ctx, conn, m, d)
}

func (p *poppers) end(ctx context.Context, conn *wire.Conn, m *wire.PoppedMessage, d *delivery) error {
	answer, err := conn.Do(ctx, wire.AckMessage, m.HandleHeader(), nil)
	p.mu.Lock()
	defer p.mu.Unlock()
	// The clocks are one machine's.
	inTime := time.Now().UnixMilli() < d.due
	d.unsure = d.unsure || err != nil || answer.Code != wire.Success || !inTime
	d.ended = !d.unsure
	d.tried = true
	for _, other := range p.got[string(m.Body)] {
		if other != d && other.tried {
			return err
		}
	}
	p.done++
	return err
}

func (p *poppers) change(ctx context.Context, conn *wire.Conn, m *wire.PoppedMessage, d *delivery, ms int64) error {
	header := m.HandleHeader()
	header["invisibleTime"] = strconv.FormatInt(ms, 10)
	answer, err := conn.Do(ctx, wire.ChangeInvisibleTime, header, nil)
	if err != nil || answer.Code != wire.Success {
		p.mu.Lock()
		defer p.mu.Unlock()
		d.due, d.unsure = min(d.due, d.popTime), true // the change may have been made
		return err
	}
	popTime, _ := strconv.ParseInt(answer.Ext["popTime"], 10, 64)
	p.mu.Lock()
	defer p.mu.Unlock()
	if popTime >= d.due {
		d.unsure = true // it came too late to have an effect
		return nil
	}
	d.due = popTime + ms
	m.Handle = m.Renewed(answer.Ext)
	return nil
}

// verify looks at what every message went through.
func (p *poppers) verify(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	early, again, times, open := 0, 0, 0, 0
	var late []int64
	for body, list := range p.got {
		slices.SortFunc(list, func(a, b *delivery) int { return int(a.popTime - b.popTime) })
		times += len(list)
		if last := list[len(list)-1]; !last.tried {
			open++
		}
		for i, d := range list {
			if i == 0 {
				continue
			}
			before := list[i-1]
			if before.ended {
				again++
				t.Logf("%s came again although it was acknowledged: %+v, %+v", body, *before, *d)
			}
			// A pop that is under way when the copy is stored has a popTime of before.
			if d.stored < before.due && !before.unsure {
				early++
				t.Logf("%s came again %d ms early: %+v, %+v", body, before.due-d.stored, *before, *d)
			}
			if d.retry && !before.unsure && !p.down(before.due, d.stored) {
				late = append(late, d.stored-before.due)
			}
		}
	}
	slices.Sort(late)
	if len(p.got) != p.total || open > 0 || early > 0 || again > 0 || len(late) == 0 {
		t.Errorf("%d of %d messages came, %d are not acknowledged, %d came too early, %d although they were acknowledged, %d again",
			len(p.got), p.total, open, early, again, len(late))
		return
	}
	at := func(part float64) int64 { return late[min(len(late)-1, int(part*float64(len(late))))] }
	t.Logf("%d messages, delivered %d times; from the instant of being visible to the copy, ms: p50 %d, p99 %d, p99.9 %d, max %d",
		p.total, times, at(.5), at(.99), at(.999), at(1))
}

// down tells whether the server was not there in a stretch of time.
func (p *poppers) down(from, to int64) bool { return from <= p.killed[1]+1000 && to >= p.killed[0] }
