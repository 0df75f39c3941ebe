package schedule_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/message"
)

// TestLevels_TagsCode rebuilds units of records that this server stored, that the real broker
// stored, and that the real broker stored of a message which this server had delayed before.
func TestLevels_TagsCode(t *testing.T) {
	t.Parallel()
	levels := schedule.Levels{1000, 5000}
	for name, c := range map[string]struct {
		topic   string
		queueID int32
		props   []string
		want    int64
	}{
		"its own due instant":         {message.TopicSchedule, 0, []string{message.PropertyDueMs, "100700"}, 100_700},
		"the level, of RocketMQ":      {message.TopicSchedule, 1, []string{message.PropertyDelay, "2", message.PropertyTags, "TagA"}, 105_000},
		"an instant of an older stay": {message.TopicSchedule, 1, []string{message.PropertyDueMs, "99999", message.PropertyDelay, "2"}, 105_000},
		"a level that was removed":    {message.TopicSchedule, 7, []string{message.PropertyDelay, "8"}, 105_000},
		"an ordinary topic":           {"T", 1, []string{message.PropertyDueMs, "100700", message.PropertyTags, "TagA"}, message.TagsHash([]byte("TagA"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := message.View{Topic: []byte(c.topic), QueueID: c.queueID, StoreTimestamp: 100_000}
			for i := 0; i < len(c.props); i += 2 {
				v.Properties = message.PropertyAppend(v.Properties, c.props[i], c.props[i+1])
			}
			if got := levels.TagsCode(&v); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
