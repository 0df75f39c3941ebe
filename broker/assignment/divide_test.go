package assignment_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wheelmq/wheelmq/broker/assignment"
	"github.com/wheelmq/wheelmq/remoting"
)

func queues(n int) []remoting.MessageQueue {
	list := make([]remoting.MessageQueue, n)
	for i := range list {
		list[i] = remoting.MessageQueue{BrokerName: "b", Topic: "T", QueueID: int32(n - 1 - i)}
	}
	return list
}

func clients(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("c%02d", i)
	}
	return list
}

func ids(list []remoting.MessageQueue) string {
	var s []string
	for _, q := range list {
		s = append(s, fmt.Sprint(q.QueueID))
	}
	return strings.Join(s, " ")
}

func TestShares(t *testing.T) {
	t.Parallel()
	pull := func(name string, nQueues, nClients int, client string) string {
		share, ok := assignment.Pull(name, queues(nQueues), clients(nClients), client)
		return fmt.Sprint(ids(share), " ", ok)
	}
	pop := func(name string, nQueues, nClients int, client string, sharing int) string {
		share, ok := assignment.Pop(name, queues(nQueues), clients(nClients), client, sharing)
		return fmt.Sprint(ids(share), " ", ok)
	}
	for _, c := range []struct{ name, got, want string }{
		{"neighbours", pull("AVG", 8, 3, "c00"), "0 1 2 true"},
		{"the last has one less", pull("AVG", 8, 3, "c02"), "6 7 true"},
		{"more clients than queues", pull("AVG", 2, 3, "c02"), " true"},
		{"dealt out", pull("AVG_BY_CIRCLE", 8, 3, "c01"), "1 4 7 true"},
		{"not a member", pull("AVG", 8, 3, "x"), " true"},
		{"unknown strategy", pull("CONSISTENT_HASH", 8, 3, "c00"), " false"},
		{"everybody pops", pop("AVG", 8, 3, "x", -1), "-1 true"},
		{"too few to share", pop("AVG", 8, 3, "c00", 2), "-1 true"},
		{"shared with the next", pop("AVG", 8, 4, "c00", 1), "0 1 2 3 true"},
		{"shared around the end", pop("AVG", 8, 4, "c03", 2), "0 1 2 3 6 7 true"},
		{"more clients than queues pop", pop("AVG", 2, 5, "c04", 1), "0 true"},
		{"unknown strategy of a pop", pop("x", 8, 3, "c00", -1), " false"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// TestPull_EveryQueueOnce holds shares to what they are for.
func TestPull_EveryQueueOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, members := rapid.IntRange(1, 40).Draw(t, "queues"), clients(rapid.IntRange(1, 12).Draw(t, "clients"))
		name := rapid.SampledFrom([]string{assignment.Averagely, assignment.AveragelyByCircle}).Draw(t, "strategy")
		sharing := rapid.IntRange(1, 5).Draw(t, "sharing")
		pulled, popped := make([]int, n), make([]int, n)
		for _, member := range members {
			share, _ := assignment.Pull(name, queues(n), members, member)
			for _, q := range share {
				pulled[q.QueueID]++
			}
			share, _ = assignment.Pop(name, queues(n), members, member, sharing)
			for _, q := range share {
				if q.QueueID < 0 {
					return
				}
				popped[q.QueueID]++
			}
		}
		if slices.ContainsFunc(pulled, func(times int) bool { return times != 1 }) {
			t.Fatalf("pulled from: %v", pulled)
		}
		if len(members) <= n && slices.Min(popped) < 1 || slices.Max(popped) > max(sharing+1, len(members)) {
			t.Fatalf("popped from: %v", popped)
		}
	})
}
