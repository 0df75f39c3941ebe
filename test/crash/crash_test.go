package crash

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

var seed = flag.Uint64("seed", 0, "seed of the random choices, 0 for a new one")

const (
	topic  = "crash"
	queues = 4
	group  = "crash-consumer"
	// longest is the delay of level 3 in the table below, and of timers.
	longest = 3 * time.Second
)

// conf makes log, queue and index files roll several times a second.
var conf = map[string]string{
	"mappedFileSizeCommitLog":    strconv.Itoa(256 << 10),
	"mappedFileSizeConsumeQueue": strconv.Itoa(500 * 20),
	"maxMessageSize":             strconv.Itoa(100 << 10),
	"maxHashSlotNum":             "200",
	"maxIndexNum":                "800",
	"messageDelayLevel":          "1s 2s 3s",
}

func TestKill(t *testing.T) {
	kills := 20
	if text := os.Getenv("WHEELMQ_CRASH_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("WHEELMQ_CRASH_KILLS=%q: want a number of kills", text)
		}
		kills = n
	}
	if peer.TargetKind() == peer.Real {
		kills = max(2, kills/10) // each takes many seconds
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("%d kills, repeat with -seed %d", kills, *seed)
	for i, flush := range []string{"ASYNC_FLUSH", "SYNC_FLUSH"} {
		t.Run(flush, func(t *testing.T) {
			t.Parallel()
			keys := map[string]string{"flushDiskType": flush}
			maps.Copy(keys, conf)
			maps.Copy(keys, transactionConf)
			h := &history{rng: rand.New(rand.NewPCG(*seed, uint64(i))), reads: make(map[place]string), deals: &dealings{byKey: make(map[string]*deal)}}
			h.target = peer.StartTarget(t, keys)
			wire.Dial(t, h.target.BrokerAddr).MustCreateTopic(t, topic, queues)
			for range (kills + i) / 2 {
				h.round(t)
			}
			h.verify(t)
		})
	}
}

// history is what clients were told in the rounds so far.
type history struct {
	target  *peer.Target
	rng     *rand.Rand
	rounds  int
	acked   []sent
	timers  []*timer
	deals   *dealings
	reads   map[place]string // bodies that a consumer got
	resume  [queues]int64    // where the consumer goes on
	saved   [queues]int64    // what was on disk of the consumer's offsets before the last kill
	commits int              // acknowledged
	firm    int              // of those, on disk before a kill
	codes   int              // sends refused
}

// place is where a message is, once for ever.
type place struct {
	queue  int
	offset int64
}

// sent is a message that was acknowledged.
type sent struct {
	place
	id    string
	level int // 0: not delayed, and place is known
}

// round puts the server under load, kills it at a random moment, starts it again and looks at
// the consumer's offsets.
func (h *history) round(t *testing.T) {
	t.Helper()
	load := time.Duration(20+h.rng.IntN(380)) * time.Millisecond
	if h.target.Kind == peer.Real {
		load += 2 * time.Second // a cold JVM does little before
	}
	h.deals.round = h.rounds
	workers := h.workers(t)
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(w.run)
	}
	if h.rounds%8 == 3 && h.target.Kind == peer.Ours {
		h.awaitCheckpoint(t)
	}
	time.Sleep(load)
	if h.rounds%4 == 0 && h.target.Kind == peer.Ours {
		h.awaitSave(t)
	}
	h.saved = h.savedOffsets(t)
	h.target.Kill()
	wg.Wait()
	for _, w := range workers {
		h.acked = append(h.acked, w.acked...)
		h.timers = append(h.timers, w.timers...)
		h.codes += w.codes
	}
	h.rounds++
	if h.target.Kind == peer.Ours && h.rng.IntN(3) == 0 {
		// A recovery may be cut off as well.
		h.target.KillWhileStarting(time.Duration(h.rng.IntN(150)) * time.Millisecond)
	}
	h.target.Launch()
	h.offsets(t, workers[0])
}

// offsets checks what the server kept of the consumer's commits, and goes on from there.
func (h *history) offsets(t *testing.T, consumer *worker) {
	t.Helper()
	c, err := wire.Open(h.target.BrokerAddr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	maps.Copy(h.reads, consumer.reads)
	h.commits += len(consumer.commits)
	for q := range queues {
		atLeast, atMost := h.resume[q], h.resume[q]
		for _, commit := range consumer.commits {
			if commit.queue == q && commit.offset <= h.saved[q] {
				h.firm++
			}
		}
		atLeast = max(atLeast, h.saved[q])
		atMost = max(atMost, consumer.tried[q])
		var got int64
		if answer := c.QueryOffset(t, group, topic, q, map[string]string{"setZeroIfNotFound": "false"}); answer.Code == wire.Success {
			got = answer.Int64(t, "offset")
		}
		h.resume[q] = got
		if h.target.Kind == peer.Real {
			continue
		}
		if got < atLeast || got > atMost {
			t.Errorf("round %d: the offset of queue %d is %d, want at least %d, which was kept or on disk before the kill, and at most %d",
				h.rounds, q, got, atLeast, atMost)
		}
		if end := c.MaxOffset(t, topic, q); got > end {
			t.Errorf("round %d: the offset of queue %d is %d, past its end %d", h.rounds, q, got, end)
		}
	}
}

// awaitSave waits until commits of this round are on disk.
func (h *history) awaitSave(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(wire.Timeout); h.savedOffsets(t) == h.resume; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("round %d: no commit was saved in %v", h.rounds, wire.Timeout)
			return
		}
	}
}

// savedOffsets are those of the consumer that are on disk; zeros for the real broker.
func (h *history) savedOffsets(t *testing.T) (offsets [queues]int64) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(h.target.StoreDir, "config", "consumerOffset.json"))
	if h.target.Kind == peer.Real || errors.Is(err, fs.ErrNotExist) {
		return offsets
	}
	var file struct{ OffsetTable map[string]map[int]int64 }
	if err == nil {
		err = json.Unmarshal(b, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	for q, offset := range file.OffsetTable[topic+"@"+group] {
		offsets[q] = offset
	}
	return offsets
}

// logFiles counts the log files.
func (h *history) logFiles(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(h.target.StoreDir, "commitlog", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func (h *history) String() string {
	return fmt.Sprintf("%d kills, %d messages, %v and %v acknowledged, %d sends refused, %d messages read, %d commits, %d of them firm",
		h.rounds, len(h.acked), h.countTimers(), h.countDeals(), h.codes, len(h.reads), h.commits, h.firm)
}
