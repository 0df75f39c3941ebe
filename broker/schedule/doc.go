// Package schedule is the delay levels: handleScheduleMessage rewrites a delayed message into
// SCHEDULE_TOPIC_XXXX, and Service delivers it to its real topic at its due millisecond.
//
// The ConsumeQueue unit of a pending record holds the due instant as its tagsCode; the record
// itself carries it too, so that a queue rebuilt under another level table is the same.
//
// A backlog is what one level still has to deliver, and knows nothing of time or disk. One driver
// goroutine takes turns with the levels; what it appended is a flight until it is durable. The
// offset file is at most a second behind, and a start finds the rest in the log by the identity
// that every copy carries.
package schedule
