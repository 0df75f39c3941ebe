// Package assignment divides a topic's queues among the members of a consumer group, for clients
// that leave it to the broker, and keeps who of them pops and who pulls.
package assignment

import (
	"cmp"
	"slices"

	"github.com/wheelmq/wheelmq/remoting"
)

// Names of the ways to divide queues (RocketMQ 5.5.0).
const (
	Averagely         = "AVG"
	AveragelyByCircle = "AVG_BY_CIRCLE"
)

// anyQueue is the queue id that stands for all queues of a broker.
const anyQueue = -1

// strategy gives one client its share of queues. Both lists are sorted, and the client is in the
// second one.
type strategy func(queues []remoting.MessageQueue, clients []string, index int) []remoting.MessageQueue

var strategies = map[string]strategy{Averagely: averagely, AveragelyByCircle: byCircle}

// Pull is a client's share of a topic's queues when it pulls. ok is false for an unknown strategy;
// a client that is not a member gets nothing.
func Pull(name string, queues []remoting.MessageQueue, clients []string, client string) (share []remoting.MessageQueue, ok bool) {
	divide, ok := strategies[name]
	if !ok {
		return nil, false
	}
	index, member := slices.BinarySearch(clients, client)
	if !member || len(queues) == 0 {
		return nil, true
	}
	return divide(sorted(queues), clients, index), true
}

// Pop is a client's share of a topic's queues when it pops: what it would pull from, and what as many
// members after it as sharing says would. With too few members for that, or a number that is not
// positive, everybody pops from every queue: one entry for each broker, with queue id -1.
func Pop(name string, queues []remoting.MessageQueue, clients []string, client string, sharing int) (share []remoting.MessageQueue, ok bool) {
	divide, ok := strategies[name]
	switch {
	case !ok:
		return nil, false
	case sharing <= 0 || sharing >= len(clients)-1:
		return everyBroker(queues), true
	}
	index, member := slices.BinarySearch(clients, client)
	if !member || len(queues) == 0 {
		return nil, true
	}
	queues = sorted(queues)
	if len(clients) > len(queues) {
		return []remoting.MessageQueue{queues[index%len(queues)]}, true
	}
	for i := range sharing + 1 {
		share = append(share, divide(queues, clients, (index+i)%len(clients))...)
	}
	return slices.Compact(sorted(share)), true
}

// everyBroker has one entry for each broker of a topic.
func everyBroker(queues []remoting.MessageQueue) []remoting.MessageQueue {
	all := slices.Clone(queues)
	for i := range all {
		all[i].QueueID = anyQueue
	}
	return slices.Compact(sorted(all))
}

// averagely gives neighbouring queues to one client; the first ones get one more.
func averagely(queues []remoting.MessageQueue, clients []string, index int) []remoting.MessageQueue {
	size, more := len(queues)/len(clients), len(queues)%len(clients)
	from := index*size + min(index, more)
	if index < more {
		size++
	}
	return queues[from : from+size]
}

// byCircle deals queues out one by one.
func byCircle(queues []remoting.MessageQueue, clients []string, index int) (share []remoting.MessageQueue) {
	for i := index; i < len(queues); i += len(clients) {
		share = append(share, queues[i])
	}
	return share
}

// sorted is a sorted copy, in the order in which every client sorts.
func sorted(queues []remoting.MessageQueue) []remoting.MessageQueue {
	queues = slices.Clone(queues)
	slices.SortFunc(queues, func(a, b remoting.MessageQueue) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.BrokerName, b.BrokerName), cmp.Compare(a.QueueID, b.QueueID))
	})
	return queues
}
