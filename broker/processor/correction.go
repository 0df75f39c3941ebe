package processor

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

// progressReader is what QUERY_CORRECTION_OFFSET needs of the offsets.
type progressReader interface {
	// EachCommitted visits the committed offsets of every group in a topic.
	EachCommitted(topic string, visit func(group string, queueID int32, committed int64))
}

// Correction serves QUERY_CORRECTION_OFFSET (308): of each queue of a topic the offset of the group
// that is farthest behind.
type Correction struct {
	Offsets     progressReader
	Store       queueFinder
	Differences *difference.Set
}

// Routes returns the table rows.
func (c *Correction) Routes() []remoting.Route {
	return []remoting.Route{
		{Code: remoting.QueryCorrectionOffset, Class: remoting.Admin, Handler: c.query, Since: "3.2",
			Test: "broker/processor/correction_test.go"},
	}
}

// query answers {"correctionOffsets":{queue:offset}}. Groups of filterGroups ("a,b") do not count, nor
// do offsets before the queue's beginning. Where the group compareGroup is ahead of all that count,
// the answer is 2^63-1: nothing is to be corrected.
func (c *Correction) query(ex *remoting.Exchange) error {
	topicName, ok := ex.Req.Ext.Get("topic")
	if !ok {
		return remoting.Errorf(remoting.SystemError, "the custom field <topic> is null")
	}
	filterGroups, _ := ex.Req.Ext.Get("filterGroups")
	compareGroup, _ := ex.Req.Ext.Get("compareGroup")
	left := strings.Split(string(filterGroups), ",")
	if len(filterGroups) > 0 {
		c.Differences.Use(difference.CorrectionOnlyReads)
	}
	slowest, compared := make(map[int32]int64), make(map[int32]int64)
	c.Offsets.EachCommitted(string(topicName), func(group string, queueID int32, committed int64) {
		if group == string(compareGroup) {
			compared[queueID] = committed
		}
		if slices.Contains(left, group) || committed < c.begin(topicName, queueID) {
			return
		}
		if known, ok := slowest[queueID]; !ok || committed < known {
			slowest[queueID] = committed
		}
	})
	for queueID, committed := range compared {
		if least, ok := slowest[queueID]; ok && committed > least {
			slowest[queueID] = math.MaxInt64
		}
	}
	ex.Reply.Body = appendQueueOffsets([]byte(`{"correctionOffsets":`), slowest)
	ex.Reply.Body = append(ex.Reply.Body, '}')
	return nil
}

func (c *Correction) begin(topicName []byte, queueID int32) int64 {
	queue := c.Store.Queue(topicName, queueID)
	if queue == nil {
		return 0
	}
	return queue.Min()
}

func appendQueueOffsets(body []byte, offsets map[int32]int64) []byte {
	body = append(body, '{')
	for i, queueID := range slices.Sorted(maps.Keys(offsets)) {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(strconv.AppendInt(append(body, '"'), int64(queueID), 10), `":`...)
		body = strconv.AppendInt(body, offsets[queueID], 10)
	}
	return append(body, '}')
}
