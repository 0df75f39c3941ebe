package bench

import (
	"bytes"
	"fmt"
	"net"
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

// popInvisible is how long a popped message stays away, far longer than a round.
const popInvisible = 10 * time.Minute

// popRows are what is measured: messages popped at a time, and how they are acknowledged.
var popRows = []popRow{
	{"32 at a time, acknowledged one by one", 32, 1, false},
	{"32 at a time, acknowledged together", 32, 1, true},
	{"one at a time, 16 pops in flight", 1, 16, false},
	{"one at a time", 1, 1, false},
}

type popRow struct {
	name         string
	most, flight int
	batch        bool
}

// TestPop prints server CPU µs per message that is popped and acknowledged. The topic is full before
// it begins; its consumers share all queues, as pop consumers do.
func TestPop(t *testing.T) {
	requireBench(t)
	servers := bothServers(t, nil)
	size := map[string]int{
		peer.Ours: envInt("WHEELMQ_BENCH_POPS", 200_000), peer.Real: envInt("WHEELMQ_BENCH_PEER_POPS", 20_000),
	}
	results := make(map[string][]sample)
	// The first round warms the servers up and is not counted.
	for round := range rounds + 1 {
		for i, row := range popRows {
			if only := os.Getenv("WHEELMQ_BENCH_ROWS"); only != "" && !strings.Contains(only, row.name) {
				continue
			}
			for _, target := range servers {
				warmMemory(t)
				topic := fmt.Sprintf("Pop%d_%d", i, round)
				s := popRound(t, target, topic, row, size[target.Kind])
				if round > 0 {
					results[row.name+target.Kind] = append(results[row.name+target.Kind], s)
				}
			}
		}
	}
	fmt.Printf("\n| popped and acknowledged, 128 B, %d consumers | ours µs | peer µs | peer/ours | ours /s | peer /s |\n|---|---|---|---|---|---|\n", conns)
	for _, row := range popRows {
		o, p := best(results[row.name+peer.Ours]), best(results[row.name+peer.Real])
		fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", row.name, micros(o), micros(p), ratio(p, o), rate(o), rate(p))
	}
}

// popRound fills a topic and has consumers pop and acknowledge everything.
func popRound(t *testing.T, target *peer.Target, topic string, row popRow, total int) sample {
	t.Helper()
	sendPlain(t, target, topic, total, 128)
	flushed()
	before, start := cpuTime(t, target.PIDs()), time.Now()
	left := new(atomic.Int64)
	left.Store(int64(total))
	var wg sync.WaitGroup
	for range conns {
		wg.Go(func() {
			p, err := newPopper(target.BrokerAddr, topic, row, left)
			if err == nil {
				err = p.run()
			}
			if err != nil {
				t.Errorf("%s: %s: %v", target.Kind, topic, err)
			}
		})
	}
	wg.Wait()
	wall := time.Since(start)
	flushed()
	if t.Failed() {
		t.FailNow()
	}
	if n := left.Load(); n < 0 {
		t.Errorf("%s: %s: %d messages came twice", target.Kind, topic, -n)
	}
	return sample{messages: total, wall: wall, cpu: cpuTime(t, target.PIDs()) - before}
}

// popper is one consumer: it pops, acknowledges what it got, and pops again.
type popper struct {
	nc    net.Conn
	topic string
	pop   prepared
	batch bool
	left  *atomic.Int64 // messages that nobody has acknowledged

	flight int // pops that are sent at once

	got  popped
	in   []byte
	out  []byte
	sent int
	acks int // in out
}

const popGroup = "BenchPop"

func newPopper(addr, topic string, row popRow, left *atomic.Int64) (*popper, error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &popper{nc: nc, topic: topic, batch: row.batch, flight: row.flight, left: left, in: make([]byte, 256<<10), pop: prepare(wire.PopMessage, map[string]string{
		"consumerGroup": popGroup, "topic": topic, "queueId": "-1", "maxMsgNums": strconv.Itoa(row.most),
		"invisibleTime": strconv.FormatInt(popInvisible.Milliseconds(), 10), "pollTime": "0", "bornTime": "0",
		"initMode": "0", "expType": "TAG", "exp": "*", "order": "false",
	}, nil)}, nil
}

func (p *popper) run() error {
	defer p.nc.Close()
	for p.left.Load() > 0 {
		if err := p.askMany(); err != nil {
			return err
		}
		acks := p.acks
		p.acks = 0
		if acks == 0 {
			continue
		}
		if _, err := p.nc.Write(p.out); err != nil {
			return err
		}
		counter := replyCounter{r: p.nc, buf: p.in}
		for acks > 0 {
			n, bad, err := counter.next()
			if err != nil || bad > 0 {
				return fmt.Errorf("%d acks refused, %w", bad, err)
			}
			acks -= n
		}
	}
	return nil
}

// askMany sends the pops and prepares the acknowledgements of what they get.
func (p *popper) askMany() error {
	p.out = p.out[:0]
	for range p.flight {
		p.sent++
		p.out = p.pop.number(p.out, p.sent)
	}
	if _, err := p.nc.Write(p.out); err != nil {
		return err
	}
	p.out = p.out[:0]
	have := 0
	for answers := 0; answers < p.flight; {
		n, err := p.nc.Read(p.in[have:])
		if err != nil {
			return err
		}
		have += n
		at := 0
		for frame := nextFrame(p.in[at:have]); frame != nil; frame = nextFrame(p.in[at:have]) {
			at += len(frame)
			answers++
			if err := p.answered(frame); err != nil {
				return err
			}
		}
		have = copy(p.in, p.in[at:have])
	}
	return nil
}

// answered prepares the acknowledgements of what one pop got.
func (p *popper) answered(frame []byte) error {
	if !bytes.HasPrefix(frame[8:], okPrefix) {
		if code := string(frame[8:min(len(frame), 20)]); !strings.Contains(code, `:210,`) && !strings.Contains(code, `:209,`) {
			return fmt.Errorf("pop refused: %q", frame[8:])
		}
		return nil
	}
	a := &p.got
	if err := a.parse(frame); err != nil {
		return err
	}
	if p.batch {
		p.acks++
		p.out = a.batchAck(p.out, p.acks, p.topic)
	}
	for i := range a.queues {
		q := &a.queues[i]
		p.left.Add(-int64(len(q.offsets)))
		for _, offset := range q.offsets {
			if p.batch {
				break
			}
			p.acks++
			p.out = a.ack(p.out, p.acks, p.topic, q, offset)
		}
	}
	return nil
}
