package inflight

import "fmt"

// Work is what a consumer group has not finished with in a queue.
type Work struct {
	Place
	ClientID  string // who pulled last, "" when nobody did
	Done, End int64  // units: finished below Done, the queue ends at End
	Given     int64  // units below it were given out
	Popped    int64  // messages that its client has popped and not acknowledged; then there are no units

	broadcast bool
	conn      uint64
}

// String tells people who is at work on what.
func (w Work) String() string {
	if w.Popped > 0 {
		return fmt.Sprintf("group %s, topic %s, queue %d: client %s has popped %d messages and not acknowledged them",
			w.Group, w.Topic, w.QueueID, w.ClientID, w.Popped)
	}
	what := fmt.Sprintf("group %s, topic %s, queue %d: done up to %d of %d", w.Group, w.Topic, w.QueueID, w.Done, w.End)
	switch {
	case w.ClientID == "":
		return what + ", no client pulls"
	case w.Given > w.Done:
		return fmt.Sprintf("%s, client %s has messages", what, w.ClientID)
	}
	return fmt.Sprintf("%s, client %s has not been given more", what, w.ClientID)
}
