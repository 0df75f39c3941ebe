package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestEndToEnd prints the time from the start of a send to the message in the hands of a
// waiting consumer, at 1,000 messages a second.
func TestEndToEnd(t *testing.T) {
	requireBench(t)
	const perSecond, seconds = 1000, 8
	fmt.Printf("\n| end to end at %d msg/s | p50 µs | p99 µs | CPU µs/msg |\n|---|---|---|---|\n", perSecond)
	for _, target := range bothServers(t, nil) {
		// The first pass warms the server up.
		endToEnd(t, target, "E2EWarm", perSecond*2, perSecond)
		latencies, cpu := endToEnd(t, target, "E2E", perSecond*seconds, perSecond)
		fmt.Printf("| %s | %d | %d | %.1f |\n", target.Kind, percentile(latencies, 50), percentile(latencies, 99),
			float64(cpu.Microseconds())/float64(len(latencies)))
	}
}

func endToEnd(t *testing.T, target *peer.Target, topic string, total, perSecond int) ([]time.Duration, time.Duration) {
	t.Helper()
	admin := wire.Dial(t, target.BrokerAddr)
	defer admin.Close()
	admin.MustCreateTopic(t, topic, 1)
	before := cpuTime(t, target.PIDs())

	latencies := make([]time.Duration, 0, total)
	done := make(chan error, 1)
	go func() {
		done <- receive(target.BrokerAddr, topic, total, func(sent time.Time) {
			latencies = append(latencies, time.Since(sent))
		})
	}()
	c := wire.Dial(t, target.BrokerAddr)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next := time.Now()
	for range total {
		time.Sleep(time.Until(next))
		next = next.Add(time.Second / time.Duration(perSecond))
		body := strconv.FormatInt(time.Now().UnixNano(), 10) + strings.Repeat("x", 100)
		reply, err := c.Do(ctx, wire.SendMessageV2, map[string]string{
			"a": "BenchProducer", "b": topic, "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "1796000000000",
			"h": "0", "i": wire.Properties("WAIT", "true"), "j": "0", "k": "false", "m": "false",
		}, []byte(body))
		if err != nil || reply.Code != wire.Success {
			t.Fatalf("send: %v %v", reply, err)
		}
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return latencies, cpuTime(t, target.PIDs()) - before
}

// receive long-polls queue 0 until total messages have come.
func receive(addr, topic string, total int, got func(sent time.Time)) error {
	c, err := wire.Open(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for offset, n := "0", 0; n < total; {
		reply, err := c.Do(ctx, wire.PullMessage, map[string]string{
			"consumerGroup": "BenchE2E", "topic": topic, "queueId": "0", "queueOffset": offset, "maxMsgNums": "32",
			"sysFlag": strconv.Itoa(wire.PullSuspend | wire.PullSubscription), "commitOffset": "0",
			"suspendTimeoutMillis": "15000", "subVersion": "0", "subscription": "*", "expressionType": "TAG",
		}, nil)
		if err != nil {
			return err
		}
		offset = reply.Ext["nextBeginOffset"]
		if reply.Code != wire.Success {
			continue
		}
		messages, err := wire.Messages(reply.Body)
		if err != nil {
			return err
		}
		for _, m := range messages {
			nanos, err := strconv.ParseInt(strings.TrimRight(string(m.Body), "x"), 10, 64)
			if err != nil {
				return err
			}
			got(time.Unix(0, nanos))
			n++
		}
	}
	return nil
}

// percentile is in µs.
func percentile(samples []time.Duration, p int) int64 {
	sorted := append([]time.Duration(nil), samples...)
	slices.Sort(sorted)
	return sorted[min(len(sorted)*p/100, len(sorted)-1)].Microseconds()
}
