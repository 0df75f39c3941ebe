// Package timer is any-time delays: Admission makes a message with TIMER_* properties a pending
// record of rmq_sys_wheel_timer, and Service delivers it to its real topic at its millisecond.
//
// Service keeps two Timelines of package store/timer: what was sent with a delay is due in message
// time, what was sent with an instant of its own when the wall clock reads it. One driver goroutine
// takes pending records out of their queue into the Timelines, loads the seconds ahead, and
// delivers what is due; others put what it has collected, split and sort far segments, read ahead,
// and save checkpoints. A start goes on from the last checkpoint, reads the queue from there, and
// finds in the log what was delivered since, by the identity that every copy carries.
package timer
