// Package pop knows which messages were handed out to pop consumers and are invisible to others.
//
// A Window is one stored queue as one group pops it. It has a cursor, the offset that is handed out
// next, and of each message that is in flight when it was popped and when it is visible again. A
// handle, which a client brings back to acknowledge a message, names an offset and the pop's instant:
// it is valid while the message is in flight since that pop. Stale handles have no effect, as on the
// real broker.
//
// What is not acknowledged in time is copied to the group's retry topic at the instant when it is
// visible again, by one driver that sleeps until then. A queue that is popped in order has no retry
// topic: it is blocked until all of what was handed out is acknowledged, or visible again.
package pop
