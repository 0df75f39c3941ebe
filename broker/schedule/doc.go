// Package schedule is the delay levels: handleScheduleMessage rewrites a delayed message into
// SCHEDULE_TOPIC_XXXX, and Service delivers it to its real topic at its due millisecond.
//
// The ConsumeQueue unit of a pending record holds the due instant as its tagsCode; the record
// itself carries it too, so that a queue rebuilt under another level table is the same.
package schedule
