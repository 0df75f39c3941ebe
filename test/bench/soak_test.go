package bench

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

const (
	soakTopic = "Soak"
	// soakChunk is how many timers are sent between two turns of the clock.
	soakChunk = 2_000_000
	// soakTurn is how far the clock is turned after a chunk: log files are an hour old then, and go.
	soakTurn = 61 * time.Minute
	// soakFirst and soakSpan: the timers are due over so long a time, so long after the beginning.
	soakFirst, soakSpan = 96 * time.Hour, 240 * time.Hour
)

// soak is one run of TestSoakTimer. What is exported is kept beside the store: a run that was
// broken off goes on.
type soak struct {
	Begin  int64     // where the clock stood, ms
	Chunks []stretch // numbers that were sent
	Next   int64     // first number that no run has begun to send
	Sent   int64     // timers in Chunks

	t      *testing.T
	dir    string
	target *peer.Target
	clock  *turner
	peak   *peakMemory
	plain  float64 // plain sends/s of the same size
	idle   int64   // RssAnon before the first timer, bytes
}

// stretch are numbers of timers, from inclusive, to exclusive.
type stretch struct{ From, To int64 }

// TestSoakTimer keeps WHEELMQ_SOAK_TIMERS timers pending over ten days of message time while
// retention deletes the log behind them, restarts the server, and checks what is delivered of
// WHEELMQ_SOAK_DELIVER_HOURS. WHEELMQ_SOAK_DIR keeps the store: a run that was broken off goes on.
// It stops while more than WHEELMQ_SOAK_FREE_GIB of the disk are free.
func TestSoakTimer(t *testing.T) {
	if os.Getenv("WHEELMQ_SOAK") != "1" {
		t.Skip("takes an hour and tens of GB: run it with make soak-timer (WHEELMQ_SOAK=1)")
	}
	s := startSoak(t, int64(envInt("WHEELMQ_SOAK_TIMERS", 100_000_000)))
	fmt.Printf("\nRssAnon before the first timer %.1f MiB; plain sends of the same size %.0f/s\n", mib(s.idle), s.plain)
	fmt.Printf("\n| pending | sends/s | with taking in/s | RssAnon MiB | its peak | log MiB | queues | index | timer | timer B each | disk B each | free GiB |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for total := int64(envInt("WHEELMQ_SOAK_TIMERS", 100_000_000)); s.Sent < total; {
		s.chunk(min(soakChunk, total-s.Sent))
	}
	s.restarts()
	s.deliver(time.Duration(envInt("WHEELMQ_SOAK_DELIVER_HOURS", 6)) * time.Hour)
	s.target.Stop()
	if err := os.RemoveAll(s.target.StoreDir); err != nil {
		t.Error(err)
	}
}

func startSoak(t *testing.T, total int64) *soak {
	t.Helper()
	dir := os.Getenv("WHEELMQ_SOAK_DIR")
	if dir == "" {
		dir = peer.HomeDir(t)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := &soak{t: t, dir: dir}
	s.load()
	s.target = peer.StartVirtual(t, dir, map[string]string{
		"timerMaxDelaySec": fmt.Sprint(int((soakFirst + soakSpan).Seconds())), "fileReservedTime": "1",
		"mappedFileSizeCommitLog": fmt.Sprint(256 << 20),
	})
	s.clock = &turner{t: t, target: s.target}
	s.peak = watchMemory(s.target)
	t.Cleanup(s.peak.end)
	if s.Begin == 0 {
		s.Begin = s.clock.now()
	}
	c := wire.Dial(t, s.target.BrokerAddr)
	defer c.Close()
	c.MustCreateTopic(t, soakTopic, conns)
	c.MustCreateTopic(t, "SoakPlain", conns)
	s.plain = s.plainRate(min(soakChunk, total/10))
	s.idle = rssAnon(t, s.target.PIDs())
	return s
}

func (s *soak) file() string { return filepath.Join(s.dir, "soak.json") }

func (s *soak) load() {
	content, err := os.ReadFile(s.file())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err = cmp.Or(err, json.Unmarshal(content, s)); err != nil {
		s.t.Fatal(err)
	}
	fmt.Printf("\ngoing on with %d timers that are sent\n", s.Sent)
}

func (s *soak) save() {
	content, err := json.Marshal(s)
	if err = cmp.Or(err, os.WriteFile(s.file(), content, 0o644)); err != nil {
		s.t.Fatal(err)
	}
}

// due is the instant of a timer, ms: uniform, and known to whoever checks it.
func (s *soak) due(number int64) int64 {
	x := uint64(number+1) * 0x9E3779B97F4A7C15
	x ^= x >> 32
	x *= 0xD6E8FEB86659FD93
	x ^= x >> 32
	return s.Begin + soakFirst.Milliseconds() + int64(x%uint64(soakSpan.Milliseconds()))
}

// numberAt is the number of the n-th timer of a queue.
func numberAt(from int64, queue, n int) int64 { return from + int64(n*conns+queue) }

// chunk sends so many timers, waits until they are taken in, prints what they cost, and turns the
// clock.
func (s *soak) chunk(size int64) {
	s.t.Helper()
	s.guard()
	size -= size % conns
	from, now := s.Next, s.clock.now()
	s.Next += size
	s.save()
	requests := make([]prepared, conns)
	for queue := range requests {
		requests[queue] = soakTimer(queue, func(n int) (number, delay int64) {
			number = numberAt(from, queue, n)
			return number, s.due(number) - now
		})
	}
	start := time.Now()
	refused, err := pipeline(s.target.BrokerAddr, requests, depth, int(size/conns))
	if err != nil || refused > 0 {
		s.t.Fatalf("%d timers were refused: %v", refused, err)
	}
	sent := time.Since(start)
	awaitTakenIn(s.t, s.target)
	taken := time.Since(start)
	s.Chunks, s.Sent = append(s.Chunks, stretch{from, from + size}), s.Sent+size
	s.save()
	flushed()
	s.row(float64(size)/sent.Seconds(), float64(size)/taken.Seconds())
	s.clock.until(now + soakTurn.Milliseconds())
}

func (s *soak) row(sends, taken float64) {
	s.t.Helper()
	parts := diskParts(s.t, s.target)
	fmt.Printf("| %d | %.0f | %.0f | %.1f | %.1f | %.0f | %.0f | %.0f | %.0f | %.1f | %.1f | %.1f |\n", s.Sent, sends, taken,
		mib(rssAnon(s.t, s.target.PIDs())), mib(s.peak.max.Load()), mib(parts["commitlog"]), mib(parts["consumequeue"]), mib(parts["index"]),
		mib(parts["timer"]), float64(parts["timer"])/float64(s.Sent), float64(parts[""])/float64(s.Sent), float64(freeSpace(s.t, s.dir))/(1<<30))
}

// guard leaves the disk to others: the run ends, and may go on later.
func (s *soak) guard() {
	s.t.Helper()
	if want := int64(envInt("WHEELMQ_SOAK_FREE_GIB", 8)) << 30; freeSpace(s.t, s.dir) < want {
		s.t.Fatalf("less than %d GiB of the disk are free: stopped with %d timers pending", want>>30, s.Sent)
	}
}

// plainRate is what plain sends of the same size reach.
func (s *soak) plainRate(size int64) float64 {
	s.t.Helper()
	requests := make([]prepared, conns)
	for queue := range requests {
		requests[queue] = plain("SoakPlain", queue, 1)
	}
	start := time.Now()
	if refused, err := pipeline(s.target.BrokerAddr, requests, depth, int(size/conns)); err != nil || refused > 0 {
		s.t.Fatalf("%d plain sends were refused: %v", refused, err)
	}
	took := time.Since(start)
	flushed()
	return float64(size/conns*conns) / took.Seconds()
}

// restarts stops the server and kills it, and starts it on a store of which nothing is cached.
func (s *soak) restarts() {
	s.t.Helper()
	s.peak.end()
	fmt.Printf("\n| with %d pending | end ms | start to ready ms | all taken in ms | RssAnon MiB |\n|---|---|---|---|---|\n", s.Sent)
	for _, kind := range []struct {
		name string
		end  func()
	}{{"SIGTERM, cold", s.target.Stop}, {"kill -9, cold", s.target.Kill}} {
		begin := time.Now()
		kind.end()
		ended := time.Since(begin)
		evict(s.t, s.target.StoreDir)
		begin = time.Now()
		s.target.Launch()
		ready := time.Since(begin)
		awaitTakenIn(s.t, s.target)
		fmt.Printf("| %s | %d | %d | %d | %.1f |\n", kind.name, ended.Milliseconds(), ready.Milliseconds(), time.Since(begin).Milliseconds(),
			mib(rssAnon(s.t, s.target.PIDs())))
		s.pending(s.Sent)
	}
}

// pending wants so many messages to pend.
func (s *soak) pending(want int64) {
	s.t.Helper()
	if s.Next != s.Sent {
		// A run that was broken off has sent some of a chunk.
		return
	}
	if got := int64(metric(s.t, s.target, pendingOf(soakTopic))); got != want {
		s.t.Errorf("%d timers pend, want %d", got, want)
	}
}
