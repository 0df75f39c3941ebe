package processor

import "github.com/wheelmq/wheelmq/store"

// What handlers need of the store; see store.Log and store.Store.
type (
	recordReader interface {
		Record(commitLogOffset int64, size int32) (store.Slice, error)
	}
	// logReader reads records, and knows from where to where the log reaches.
	logReader interface {
		recordReader
		MinCommitLogOffset() int64
		MaxCommitLogOffset() int64
	}
	queueFinder interface {
		Queue(topic []byte, queueID int32) *store.ConsumeQueue
	}
	// messageLog is what consumers are served from.
	messageLog interface {
		logReader
		queueFinder
	}
	// queueReader finds queues and when their records were stored.
	queueReader interface {
		queueFinder
		StoreTimestamp(queue *store.ConsumeQueue, offset int64) (ms int64, ok bool)
	}
	queueSearcher interface {
		queueReader
		OffsetByTime(queue *store.ConsumeQueue, timestamp int64, upper bool) int64
	}
)
