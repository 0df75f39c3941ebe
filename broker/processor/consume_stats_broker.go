package processor

import (
	"strconv"

	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

// lag is what groups are behind, messages: to consume, and given out of that.
type lag struct{ total, inFlight int64 }

// ofBroker answers every group's progress, of all topics or only of those that are in order:
// {"brokerAddr":…,"consumeStatsList":[{group:[what GET_CONSUME_STATS answers of a topic]}],
// "totalDiff":…,"totalInflightDiff":…}. Groups without progress are in the list.
func (c *ConsumeStats) ofBroker(ex *remoting.Exchange) error {
	var req remoting.GetBrokerConsumeStatsRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	c.Differences.Use(difference.StatsWithoutOffsets)
	var behind lag
	body := append([]byte(`{"brokerAddr":`), remoting.AppendJSONString(nil, c.BrokerAddr)...)
	body = append(body, `,"consumeStatsList":[`...)
	for i, config := range c.Groups.All() {
		if i > 0 {
			body = append(body, ',')
		}
		var err error
		if body, err = c.appendGroup(body, config.GroupName, req.IsOrder, &behind); err != nil {
			return err
		}
	}
	body = strconv.AppendInt(append(body, `],"totalDiff":`...), behind.total, 10)
	body = strconv.AppendInt(append(body, `,"totalInflightDiff":`...), behind.inFlight, 10)
	ex.Reply.Body = append(body, '}')
	return nil
}

// appendGroup appends {group:[…]} and adds to what all groups are behind.
func (c *ConsumeStats) appendGroup(body []byte, group string, inOrder bool, behind *lag) ([]byte, error) {
	online := c.Clients.Group([]byte(group))
	body = append(remoting.AppendJSONString(append(body, '{'), group), ":["...)
	first := true
	for _, name := range c.Offsets.Topics(group) {
		config := c.Topics.Get([]byte(name))
		if config == nil || inOrder && !config.Order || unsubscribed(online, name) {
			continue
		}
		var rows queueTable
		for queueID := range config.WriteQueueNums {
			w := c.progress(group, name, queueID)
			behind.total += w.BrokerOffset - w.ConsumerOffset
			behind.inFlight += w.PullOffset - w.ConsumerOffset
			if err := rows.add(c.queue(name, queueID), w); err != nil {
				return nil, err
			}
		}
		if !first {
			body = append(body, ',')
		}
		first = false
		body = append(body, rows.body("consumeTps", c.Stats.GotTPS(group, name))...)
	}
	return append(body, "]}"...), nil
}
