package bench

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// idle is for how long servers are watched that have nothing to do.
const idle = 5 * time.Second

// transactionEnds are what is measured.
var transactionEnds = []struct {
	name string
	how  int
}{{"committed", wire.CommitTransaction}, {"rolled back", wire.RollbackTransaction}}

// TestTransaction prints server CPU µs per transaction, a half message and its acknowledged end, and
// what the servers use once they have nothing to do. The real one's cost is also given without the
// threads that are at work whether or not there are transactions.
func TestTransaction(t *testing.T) {
	requireBench(t)
	servers := bothServers(t, nil)
	size := map[string]int{
		peer.Ours: envInt("WHEELMQ_BENCH_TRANSACTIONS", 100_000), peer.Real: envInt("WHEELMQ_BENCH_PEER_TRANSACTIONS", 50_000),
	}
	before := make(map[string]string)
	for _, target := range servers {
		before[target.Kind] = idleUse(t, target)
	}
	results := make(map[string][]sample)
	bare := make(map[string][]sample) // without asides
	// The first round warms the servers up and is not counted.
	for round := range rounds + 1 {
		for _, row := range transactionEnds {
			for _, target := range servers {
				warmMemory(t)
				s, extra := transactionRound(t, target, fmt.Sprintf("Transaction%d_%d", row.how, round), row.how, size[target.Kind])
				if round == 0 {
					continue
				}
				key := row.name + "/" + target.Kind
				results[key] = append(results[key], s)
				s.cpu -= extra
				bare[key] = append(bare[key], s)
			}
		}
	}
	printTransactions(results, bare)
	for _, target := range servers {
		fmt.Printf("idle, %s: before transactions %s, after them %s\n", target.Kind, before[target.Kind], idleUse(t, target))
	}
}

func printTransactions(results, bare map[string][]sample) {
	fmt.Printf("\n| %d connections, %d in flight each, 128 B | ours µs | peer µs | peer/ours | peer µs without JIT and op thread | peer/ours | ours /s | peer /s |\n|---|---|---|---|---|---|---|---|\n", conns, depth)
	for _, row := range transactionEnds {
		ours, real := row.name+"/"+peer.Ours, row.name+"/"+peer.Real
		o, p, b := best(results[ours]), best(results[real]), best(bare[real])
		fmt.Printf("| %s | %s | %s | %s | %s | %s | %s | %s |\n", row.name, micros(o), micros(p), ratio(p, o), micros(b), ratio(b, o), rate(o), rate(p))
	}
}

// idleShare is how much of a core a server uses that has nothing to do, per cent.
func idleShare(t *testing.T, target *peer.Target) float64 {
	t.Helper()
	time.Sleep(time.Second) // for what still goes on behind a round
	before, start := cpuTime(t, target.PIDs()), time.Now()
	time.Sleep(idle)
	return 100 * (cpuTime(t, target.PIDs()) - before).Seconds() / time.Since(start).Seconds()
}

// idleUse is idleShare as a text, with the busiest threads.
func idleUse(t *testing.T, target *peer.Target) string {
	t.Helper()
	before := threadTimes(t, target.PIDs())
	share := idleShare(t, target)
	text := fmt.Sprintf("%.1f %% of a core", share)
	after := threadTimes(t, target.PIDs())
	for name, used := range after {
		const worthy = idle / 20
		if used -= before[name]; used >= worthy {
			text += fmt.Sprintf(" (%s: %.1f %%)", name, 100*used.Seconds()/(idle+time.Second).Seconds())
		}
	}
	return text
}

// asides are the threads of the real broker that are left out of its cost in the second place: the
// compilers, and the one that writes op records and spins when there are none.
var asides = []string{"C1 Compiler", "C2 Compiler", "TransactionalOp"}

// aside is what these threads have used.
func aside(t *testing.T, target *peer.Target) (used time.Duration) {
	t.Helper()
	for name, n := range threadTimes(t, target.PIDs()) {
		if slices.ContainsFunc(asides, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			used += n
		}
	}
	return used
}

// transactionRound makes total transactions, all committed or all rolled back, one queue of the topic
// per connection with a consumer waiting on it. Extra is what asides used of its CPU.
func transactionRound(t *testing.T, target *peer.Target, topic string, how, total int) (s sample, extra time.Duration) {
	t.Helper()
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	c.MustCreateTopic(t, topic, conns)
	stop := waitOnQueues(t, target, topic)
	defer stop()
	before, start, asideBefore := cpuTime(t, target.PIDs()), time.Now(), aside(t, target)
	var wg sync.WaitGroup
	for i := range conns {
		wg.Go(func() {
			if err := deal(target.BrokerAddr, prepareHalf(topic, i), how, total/conns); err != nil {
				t.Errorf("%s: %s/%d: %v", target.Kind, topic, i, err)
			}
		})
	}
	wg.Wait()
	want := int64(0)
	if how == wire.CommitTransaction {
		want = int64(total / conns)
	}
	for i := range conns {
		c.Settle(t, topic, i, want)
	}
	wall := time.Since(start)
	flushed()
	if t.Failed() {
		t.FailNow()
	}
	s = sample{messages: total / conns * conns, wall: wall, cpu: cpuTime(t, target.PIDs()) - before}
	return s, aside(t, target) - asideBefore
}

const (
	transactionGroup = "BenchProducer"
	transactionKey   = "7F0000010000000000000000000000000"
)

// prepareHalf is a half message of 128 B.
func prepareHalf(topic string, queue int) prepared {
	return prepare(wire.SendMessageV2, map[string]string{
		"a": transactionGroup, "b": topic, "c": "TBW102", "d": "4", "e": strconv.Itoa(queue), "f": "4",
		"g": "1796000000000", "h": "0", "j": "0", "k": "false", "m": "false", "n": "broker-a",
		"i": wire.Properties("UNIQ_KEY", transactionKey, "TAGS", "TagA", "KEYS", "key-1", "WAIT", "true", "TRAN_MSG", "true", "PGROUP", transactionGroup),
	}, []byte(strings.Repeat("x", 128)))
}

// ending is an END_TRANSACTION whose numbers are written in place.
type ending struct {
	prepared
	queueOffset, logOffset int // where in the frame
}

// offsetDigits are those of a number in an ending.
const offsetDigits = 19

func prepareEnding(how int) ending {
	queueOffset, logOffset := strings.Repeat("1", offsetDigits), strings.Repeat("2", offsetDigits)
	p := prepare(wire.EndTransaction, map[string]string{
		"producerGroup": transactionGroup, "tranStateTableOffset": queueOffset, "commitLogOffset": logOffset,
		"commitOrRollback": strconv.Itoa(how), "fromTransactionCheck": "false", "msgId": transactionKey, "transactionId": transactionKey,
	}, nil)
	return ending{p, bytes.Index(p.frame, []byte(queueOffset)), bytes.Index(p.frame, []byte(logOffset))}
}

// of appends the end of one half message to dst.
func (e *ending) of(dst []byte, n int, queueOffset, logOffset int64) []byte {
	start := len(dst)
	dst = e.number(dst, n)
	putOffset(dst[start+e.queueOffset:], queueOffset)
	putOffset(dst[start+e.logOffset:], logOffset)
	return dst
}

func putOffset(dst []byte, n int64) {
	for i := offsetDigits - 1; i >= 0; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
}

// deal makes total transactions over one connection, depth of them in flight: each half message is
// ended when it is acknowledged.
func deal(addr string, half prepared, how, total int) error {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	end := prepareEnding(how)
	in, have := make([]byte, 256<<10), 0
	var out []byte
	for sent, done, room := 0, 0, depth; done < total; {
		for ; room > 0 && sent < total; room, sent = room-1, sent+1 {
			out = half.number(out, sent)
		}
		if _, err := nc.Write(out); err != nil {
			return err
		}
		out = out[:0]
		n, err := nc.Read(in[have:])
		if err != nil {
			return err
		}
		have += n
		at := 0
		for frame := nextFrame(in[at:have]); frame != nil; frame = nextFrame(in[at:have]) {
			at += len(frame)
			if !bytes.HasPrefix(frame[8:], okPrefix) {
				return fmt.Errorf("refused: %q", frame[8:])
			}
			queueOffset, logOffset, isHalf := storedHalf(frame)
			if isHalf {
				out = end.of(out, done, queueOffset, logOffset)
				continue
			}
			done, room = done+1, room+1
		}
		have = copy(in, in[at:have])
	}
	return nil
}

// nextFrame is the first frame of b, nil when it is not complete.
func nextFrame(b []byte) []byte {
	if len(b) < 4 {
		return nil
	}
	size := 4 + int(binary.BigEndian.Uint32(b))
	if len(b) < size {
		return nil
	}
	return b[:size]
}

// storedHalf reads the answer to a half message; the answer to an end has no such fields.
func storedHalf(frame []byte) (queueOffset, logOffset int64, ok bool) {
	text, ok := field(frame, `"queueOffset":"`)
	if !ok {
		return 0, 0, false
	}
	queueOffset, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	// An offset message id ends with the log offset in hexadecimal.
	id, _ := field(frame, `"msgId":"`)
	logOffset, err = strconv.ParseInt(id[max(0, len(id)-16):], 16, 64)
	return queueOffset, logOffset, err == nil
}

func field(frame []byte, name string) (value string, ok bool) {
	_, rest, ok := bytes.Cut(frame, []byte(name))
	if !ok {
		return "", false
	}
	text, _, ok := bytes.Cut(rest, []byte(`"`))
	return string(text), ok
}
