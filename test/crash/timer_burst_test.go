package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestTimerBurstKill has many timers due at one instant, kills or stops the server again and again while
// it delivers them, and races with their cancels: each comes once, not before its instant, and in the order
// in which they were accepted. WHEELMQ_CRASH_BURST is how many there are.
func TestTimerBurstKill(t *testing.T) {
	if peer.TargetKind() == peer.Real {
		t.Skip("its copies do not tell what they are made from")
	}
	n := 5000
	if text := os.Getenv("WHEELMQ_CRASH_BURST"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 {
			t.Fatalf("WHEELMQ_CRASH_BURST=%q: want a number of timers", text)
		}
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("%d timers, repeat with -seed %d", n, *seed)
	for i, flush := range []string{"ASYNC_FLUSH", "SYNC_FLUSH"} {
		t.Run(flush, func(t *testing.T) {
			t.Parallel()
			b := &burst{n: n, rng: rand.New(rand.NewPCG(*seed, uint64(i))), target: peer.StartTarget(t, map[string]string{"flushDiskType": flush})}
			wire.Dial(t, b.target.BrokerAddr).MustCreateTopic(t, topic, queues)
			b.send(t)
			b.kill(t)
			b.verify(t)
		})
	}
}

// burst is timers that are due at one instant.
type burst struct {
	n       int
	rng     *rand.Rand
	target  *peer.Target
	at      int64 // ms since 1970
	acked   []atomic.Bool
	cancels []atomic.Int32 // fates
	kills   int
}

const burstSenders = 128

// send sends the timers, by many clients at once.
func (b *burst) send(t *testing.T) {
	t.Helper()
	b.acked, b.cancels = make([]atomic.Bool, b.n), make([]atomic.Int32, b.n)
	b.at = time.Now().Add(4*time.Second + time.Duration(b.n)*time.Second/2500).UnixMilli()
	conns := make([]*wire.Conn, 4)
	for i := range conns {
		conns[i] = wire.Dial(t, b.target.BrokerAddr)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for s := range burstSenders {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < b.n; i = int(next.Add(1)) - 1 {
				id := fmt.Sprint(timerID, i)
				b.acked[i].Store(b.put(conns[s%len(conns)], i%queues, id, "TIMER_DELIVER_MS", strconv.FormatInt(b.at, 10)))
			}
		})
	}
	wg.Wait()
	t.Logf("sent, %v before they are due", time.Until(time.UnixMilli(b.at)))
}

// put sends a message, and tells whether it was accepted.
func (b *burst) put(c *wire.Conn, queue int, id string, props ...string) bool {
	s := wire.Send{Topic: topic, QueueID: queue, Body: []byte(id), Properties: wire.Properties(append(props, "UNIQ_KEY", uniqueKey(id))...)}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	answer, err := c.Do(ctx, wire.SendMessageV2, s.Header(), s.Body)
	return err == nil && answer.Code == wire.Success
}

// kill kills the server while it delivers, and cancels some of the timers meanwhile.
func (b *burst) kill(t *testing.T) {
	t.Helper()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	time.Sleep(max(0, time.Until(time.UnixMilli(b.at))-3*time.Second))
	for s := range 4 {
		rng := rand.New(rand.NewPCG(b.rng.Uint64(), uint64(s)))
		wg.Go(func() { b.cancelSome(rng, stop) })
	}
	time.Sleep(max(0, time.Until(time.UnixMilli(b.at))))
	for there := int64(0); b.kills < 6 && b.awaitMore(t, there); b.kills++ {
		time.Sleep(time.Duration(b.rng.IntN(20+b.n/3000)) * time.Millisecond)
		switch b.kills % 4 {
		case 1:
			b.target.Kill()
			b.target.KillWhileStarting(time.Duration(b.rng.IntN(400)) * time.Millisecond)
		case 2:
			b.target.Stop()
		default:
			b.target.Kill()
		}
		b.target.Launch()
		there = b.count(t)
	}
	close(stop)
	wg.Wait()
}

// awaitMore waits until more is delivered; false: nothing is, or all was long ago.
func (b *burst) awaitMore(t *testing.T, there int64) bool {
	t.Helper()
	patience := 2 * time.Second
	if b.kills == 0 {
		patience = wire.Timeout
	}
	for until := time.Now().Add(patience); b.count(t) <= there; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			return false
		}
	}
	return true
}

// cancelSome cancels timers at random.
func (b *burst) cancelSome(rng *rand.Rand, stop <-chan struct{}) {
	var c *wire.Conn
	for {
		select {
		case <-stop:
			return
		case <-time.After(25 * time.Millisecond):
		}
		if c == nil {
			var err error
			if c, err = wire.Open(b.target.BrokerAddr); err != nil {
				continue
			}
		}
		i := rng.IntN(b.n)
		id := fmt.Sprint(timerID, i)
		b.cancels[i].CompareAndSwap(int32(never), int32(perhaps))
		ok := b.put(c, 0, cancelID+id, "TIMER_DELIVER_MS", strconv.FormatInt(b.at, 10), "TIMER_DEL_UNIQKEY", topic+"+"+uniqueKey(id))
		if !ok {
			c.Close()
			c = nil
		} else if time.Now().UnixMilli() < (b.at-1)/1000*1000-inTime.Milliseconds() {
			b.cancels[i].Store(int32(surely))
		}
	}
}

// count is how many messages are in the topic.
func (b *burst) count(t *testing.T) (n int64) {
	t.Helper()
	c := wire.Dial(t, b.target.BrokerAddr)
	for q := range queues {
		n += c.MaxOffset(t, topic, q)
	}
	return n
}

// found is what came of a burst.
type found struct {
	times                  []int // by number of the timer
	total, early, disorder int
}

func (b *burst) drain(t *testing.T) *found {
	t.Helper()
	c := wire.Dial(t, b.target.BrokerAddr)
	f := &found{times: make([]int, b.n)}
	for q := range queues {
		last := int64(-1)
		for _, m := range c.PullAll(t, wire.Pull{Group: "burst-drain", Topic: topic, QueueID: q}) {
			if strings.HasPrefix(string(m.Body), cancelID) {
				continue // its instant was past
			}
			last = f.take(t, &m, b.at, last)
		}
	}
	return f
}

// take takes in a message, and returns where in the log the one lies that it is a copy of.
func (f *found) take(t *testing.T, m *wire.Message, at, last int64) (source int64) {
	t.Helper()
	i, err := strconv.Atoi(strings.TrimPrefix(string(m.Body), timerID))
	if err != nil {
		t.Fatal(err)
	}
	f.total++
	f.times[i]++
	if m.StoreTimestamp < at {
		f.early++
	}
	parts := strings.Split(m.Properties[sourceProperty], ":")
	if len(parts) < 2 {
		return last // it was sent when its instant was past
	}
	if source, err = strconv.ParseInt(parts[1], 10, 64); err != nil {
		t.Fatal(err)
	}
	if source <= last {
		f.disorder++
	}
	return source
}

// lost counts timers that were accepted, that nobody cancelled, and that did not come.
func (b *burst) lost(f *found) (n int) {
	for i := range f.times {
		if f.times[i] == 0 && b.acked[i].Load() && fate(b.cancels[i].Load()) == never {
			n++
		}
	}
	return n
}

// verify waits until everything is there, and looks at it.
func (b *burst) verify(t *testing.T) {
	t.Helper()
	f := b.drain(t)
	for until := time.Now().Add(wire.Timeout); b.lost(f) > 0 && time.Now().Before(until); f = b.drain(t) {
		time.Sleep(200 * time.Millisecond)
	}
	time.Sleep(time.Second) // what comes twice would come now
	f = b.drain(t)
	twice, uncancelled := 0, 0
	for i := range f.times {
		if f.times[i] > 1 {
			twice++
		}
		if f.times[i] > 0 && fate(b.cancels[i].Load()) == surely {
			uncancelled++
		}
	}
	t.Logf("stopped %d times; %d of %d came", b.kills, f.total, b.n)
	if lost := b.lost(f); lost+twice+uncancelled+f.early+f.disorder > 0 || b.kills == 0 {
		t.Errorf("%d lost, %d twice, %d in spite of their cancels, %d early, %d out of order", lost, twice, uncancelled, f.early, f.disorder)
	}
}
