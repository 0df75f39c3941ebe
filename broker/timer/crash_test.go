package timer_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// trap takes what a crash would leave at its turn, before or after something is written.
type trap struct {
	mu    sync.Mutex
	lab   *lab
	after int // moments left
	power *rand.Rand
	left  *region.Memory
	armed bool

	saving atomic.Bool // nothing but a checkpoint is written
}

func (p *trap) moment() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.armed || p.left != nil {
		return
	}
	if p.after--; p.after > 0 {
		return
	}
	cut := rand.New(all{})
	if p.power != nil {
		cut = p.power
	}
	p.left = p.lab.disk.PowerCut(cut)
}

// trapped is an Appender with a moment before and after every record, and before and after every
// group of copies, of which many have only one.
type trapped struct {
	timer.Appender
	trap *trap
}

func (d trapped) Collect(g *store.Group, rec *message.Record, origin appender.Origin) (bool, error) {
	full, err := d.Appender.Collect(g, rec, origin)
	return full || len(rec.Body)%3 > 0, err
}

func (d trapped) PutGroup(g *store.Group, done store.Completion) (int, bool, error) {
	d.trap.moment()
	defer d.trap.moment()
	return d.Appender.PutGroup(g, done)
}

func (d trapped) Put(rec *message.Record, origin appender.Origin, done store.Completion) (store.PutResult, bool, error) {
	d.trap.moment()
	defer d.trap.moment()
	return d.Appender.Put(rec, origin, done)
}

// TestService_Crash kills the service, or cuts the power, between any two copies and at any sync of
// a checkpoint. Everything whose record is left is delivered once, counting what was before; what
// is cancelled never.
func TestService_Crash(t *testing.T) {
	t.Parallel()
	for seed := range uint64(crashes(t)) {
		for _, power := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, power cut %v", seed, power), func(t *testing.T) {
				t.Parallel()
				crash(t, seed, power)
			})
		}
	}
}

// crashes is how many histories are crashed, each in two ways: WHEELMQ_CRASH_HISTORIES, or 20.
func crashes(t *testing.T) int {
	text := os.Getenv("WHEELMQ_CRASH_HISTORIES")
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("WHEELMQ_CRASH_HISTORIES=%q: want a number of histories", text)
	}
	return n
}

func crash(t *testing.T, seed uint64, power bool) {
	rng := rand.New(rand.NewPCG(seed, 7))
	p := &trap{after: 1 + rng.IntN(120)}
	if power {
		p.power = rng
	}
	l := newLabIn(t)
	p.lab = l
	// The group commit writes while a copy is made.
	l.sync, l.inOrder, l.saveMs = rng.IntN(2) == 0 && !raced, rng.IntN(2) == 0, math.MaxInt64/2
	l.door = func(a timer.Appender) timer.Appender { return trapped{a, p} }
	l.disk.OnSync(func() {
		if p.saving.Load() && !raced { // others write meanwhile
			p.moment()
		}
	})
	l.open()
	p.armed = true
	history(l, p, rng)
	p.mu.Lock()
	left := p.left
	p.armed = false
	p.mu.Unlock()
	l.close()
	if left == nil {
		left = l.disk
	}
	l.disk = left
	l.open()
	for range 3 {
		l.clock.Set(l.clock.NowMillis() + 20_000)
		l.settle()
	}
	once(t, l)
	l.close()
}

// history is a minute in the life of a service.
func history(l *lab, p *trap, rng *rand.Rand) {
	for i := range 12 {
		for n := range rng.IntN(12) {
			name := fmt.Sprintf("%d.%d", i, n)
			l.send("T", name, at(l.clock.NowMillis()+1+rng.Int64N(9000)), key(name))
			if rng.IntN(6) == 0 {
				due := l.clock.NowMillis() + 3000 + rng.Int64N(6000)
				l.send("T", "c"+name, at(due), key("c"+name))
				l.send("T", "0", at(message.TimerOut(due, 1000)+1), cancels("c"+name))
			}
		}
		l.settle()
		if rng.IntN(3) == 0 {
			p.saving.Store(true)
			if err := l.service.Save(); err != nil {
				l.t.Fatal(err)
			}
			p.saving.Store(false)
		}
		l.clock.Set(l.clock.NowMillis() + rng.Int64N(4000))
		l.settle()
	}
}

// once counts the copies of every record that pends or did.
func once(t *testing.T, l *lab) {
	copies := map[int64]int{}
	bodies := map[int64]string{}
	gone := map[string]bool{}
	if err := l.store.Scan(0, func(v *message.View) error {
		if source, ok := redeliver.SourceOf(v.Properties, l.store.Epoch()); ok {
			copies[source]++
			return nil
		}
		if k, ok := message.PropertyGet(v.Properties, message.PropertyTimerDelUniqKey); ok {
			gone[string(k)] = true
		} else if string(v.Topic) == message.TopicTimer {
			bodies[v.CommitLogOffset] = string(v.Body)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for offset, body := range bodies {
		want := 1
		if gone[body] {
			want = 0
		}
		if copies[offset] != want {
			t.Errorf("message %s at %d has %d copies, want %d", body, offset, copies[offset], want)
		}
	}
}
