package offline

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

const configDir = "config/"

// The broker's tables, as far as this package reads them.
type (
	topicTable struct {
		TopicConfigTable map[string]struct {
			Perm          int32 `json:"perm"`
			ReadQueueNums int32 `json:"readQueueNums"`
		} `json:"topicConfigTable"`
	}
	groupTable struct {
		SubscriptionGroupTable map[string]struct{} `json:"subscriptionGroupTable"`
	}
	// consumerTable is consumerOffset.json: topic@group, queue number, offset.
	consumerTable struct {
		OffsetTable map[string]map[string]int64 `json:"offsetTable"`
	}
	// delayTable is delayOffset.json: level, offset.
	delayTable struct {
		OffsetTable map[string]int64 `json:"offsetTable"`
	}
)

// read reads a table, or its .bak when it is missing or unreadable, as a server does. Without
// either it is empty. The error says what is wrong with the file itself.
func (d *Dir) read(name string, v any) error {
	err := d.readFile(configDir+name, v)
	if err == nil {
		return nil
	}
	bak := d.readFile(configDir+name+".bak", v)
	switch {
	case errors.Is(err, fs.ErrNotExist) && (bak == nil || errors.Is(bak, fs.ErrNotExist)):
		return nil
	case bak == nil:
		return fmt.Errorf("%w; its .bak is used", err)
	}
	return err
}

func (d *Dir) readFile(name string, v any) error {
	b, err := d.fs.ReadFile(name)
	if err != nil {
		return err
	}
	if err := fastjson.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// committed is a group's offset in a queue, 0 without one.
func (t *consumerTable) committed(topic, group string, queueID int32) int64 {
	return t.OffsetTable[topic+"@"+group][itoa(int64(queueID))]
}

// splitKey cuts topic@group at its first @, which no topic's name has.
func splitKey(key string) (topic, group string) {
	topic, group, _ = strings.Cut(key, "@")
	return topic, group
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
