package processor_test

import (
	"slices"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

func TestHousekeeping(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "", "x")
	l.put("T", 1, "", "x")
	l.put("forgotten", 0, "", "x")
	l.admin(remoting.CleanExpiredConsumeQueue, nil)
	l.admin(remoting.DeleteExpiredCommitLog, nil)
	if got := l.store.QueueTopics(); !slices.Equal(got, []string{"T", "forgotten"}) {
		t.Errorf("topics with queues: %v", got)
	}
	l.admin(remoting.CleanUnusedTopic, nil)
	if got := l.store.QueueTopics(); !slices.Equal(got, []string{"T"}) {
		t.Errorf("topics with queues afterwards: %v", got)
	}
	if queue := l.store.Queue([]byte("T"), 0); queue.Min() != 0 || queue.Max() != 1 {
		t.Errorf("queue 0 of T is [%d, %d)", queue.Min(), queue.Max())
	}
}
