// Package rocketmq reads and writes the timer files of the real broker: timerlog/,
// config/timercheck and timerwheel.
//
// What pends there is found in the timer log, not in the wheel: every message and every cancel
// that the wheel leads to has a unit in the log, in the order of the timer topic's queue, and it
// pends while its slot was not read. So a wheel that is missing, damaged, older than the log or a
// snapshot of another time changes nothing. Where the log has a gap the queue is read instead, by
// the instants in its records.
//
// A wheel also says whose the pending messages are: see Block.
package rocketmq
