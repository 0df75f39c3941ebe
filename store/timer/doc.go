// Package timer keeps messages that wait for an instant, by the second they are due in. It has
// formats and data structures only: no goroutine, no clock, no topic.
//
// A Timeline splits at a whole hour one to two hours ahead. What is due before is near: entries
// of 16 bytes that name a record of the CommitLog, in blocks by second (TimerLog) with one slot
// for each second (Wheel). What is due later is far: whole records, kept by due time, so that
// nothing far off needs the CommitLog.
//
// A Timeline is durable up to a State that its owner has saved: Open cuts everything to what
// that names.
package timer
