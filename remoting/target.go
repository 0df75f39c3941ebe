package remoting

import "github.com/wheelmq/wheelmq/remoting/fastjson"

// Target is what a request is about, as its header says; either may be empty.
func Target(cmd *Command) (topic, group []byte) {
	short := cmd.Code == SendMessageV2 || cmd.Code == SendBatchMessage || cmd.Code == SendReplyMessageV2
	for i := range cmd.Ext.list {
		f := &cmd.Ext.list[i]
		switch string(f.Key) {
		case "topic", "originTopic":
			topic = f.Value
		case "consumerGroup", "producerGroup", "group", "groupName":
			if len(f.Value) > 0 {
				group = f.Value
			}
		case "a":
			if short {
				group = f.Value
			}
		case "b":
			if short {
				topic = f.Value
			}
		}
	}
	if cmd.Code == LockBatchMQ || cmd.Code == UnlockBatchMQ {
		var body LockBatchBody
		// A body that cannot be read is refused by the handler.
		if fastjson.Unmarshal(cmd.Body, &body) == nil {
			group = []byte(body.ConsumerGroup)
		}
	}
	return topic, group
}
