// Package inflight knows what consumers were given and have not finished with.
//
// What they commit tells it too late: clients do so every five seconds. But every pull of a group
// that divides its queues carries how far its client is, and a client that is told that there is
// nothing new pulls again at once. So a Tracker nudges: it ends the long polls of those who are
// behind, and reads their next pulls. GET_CONSUMER_RUNNING_INFO would tell as much, but the Go
// client answers it from its goroutines' data without their locks, which go test -race holds
// against the test; so only those are asked that a nudge says nothing about.
//
// Pops tell at once: a message that was popped is in flight until it is acknowledged, its consumer
// sets when it comes back or is gone, or it is visible again.
//
// An ordinary server has no Tracker, and notes and nudges nothing.
package inflight
