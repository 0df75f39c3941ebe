package bench

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

const returnGroup = "BenchReturn"

// TestPopReturn prints how late messages come back that consumers have popped and forgotten, all of them
// visible again at one instant: a consumer that dies with all that it holds. The real broker is 2 to 3.5 s
// late with one.
func TestPopReturn(t *testing.T) {
	requireBench(t)
	total := envInt("WHEELMQ_BENCH_RETURNS", 10_000)
	fmt.Printf("\n| visible again at one instant | messages | late ms: p50 | p99 | max |\n|---|---|---|---|---|\n")
	for _, flush := range []string{"ASYNC_FLUSH", "SYNC_FLUSH"} {
		target := peer.StartForBenchmark(t, peer.Ours, map[string]string{"flushDiskType": flush})
		// The first, small one warms the server up, and makes the retry topic's file.
		popReturn(t, target, flush+"Warm", 320)
		late := popReturn(t, target, flush, total)
		at := func(part float64) int64 { return late[min(len(late)-1, int(part*float64(len(late))))] }
		fmt.Printf("| %s | %d | %d | %d | %d |\n", flush, len(late), at(.5), at(.99), at(1))
		target.Stop()
	}
}

// popReturn returns how late each message came back, ms, ascending.
func popReturn(t *testing.T, target *peer.Target, topic string, total int) (late []int64) {
	t.Helper()
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	c.MustCreateTopic(t, topic, 1)
	for n := 0; n < total; {
		var items []wire.BatchItem
		for range min(100, total-n) {
			items = append(items, wire.BatchItem{Body: []byte(strconv.Itoa(n))})
			n++
		}
		if answer := c.SendBatch(t, wire.Send{Topic: topic}, items...); answer.Code != wire.Success {
			t.Fatalf("send: %v", answer)
		}
	}
	due := forget(t, c, topic, total)
	retry := "%RETRY%" + returnGroup + "_" + topic
	for deadline := time.Now().Add(5 * time.Minute); len(late) < total; {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d messages came back", len(late), total)
		}
		if len(late) == 0 && c.MaxOffset(t, retry, 0) < int64(total) {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		for _, m := range c.MustPull(t, wire.Pull{Group: "BenchReader", Topic: retry, Offset: int64(len(late)), MaxMsgNums: 32}).Messages {
			late = append(late, m.StoreTimestamp-due[string(m.Body)])
		}
	}
	slices.Sort(late)
	return late
}

// forget pops everything until one instant, and tells by body when it is visible again.
func forget(t *testing.T, c *wire.Conn, topic string, total int) map[string]int64 {
	t.Helper()
	instant := time.Now().Add(5*time.Second + time.Duration(total)*time.Millisecond/2)
	due := make(map[string]int64, total)
	for len(due) < total {
		got := c.MustPop(t, wire.Pop{Group: returnGroup, Topic: topic, QueueID: wire.AnyQueue, Invisible: time.Until(instant)})
		for _, m := range got.Messages {
			due[string(m.Body)] = got.PopTime + got.InvisibleTime
		}
	}
	if time.Now().After(instant) {
		t.Fatal("popping took until the messages were visible again")
	}
	return due
}
