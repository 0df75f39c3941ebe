package redeliver_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/message"
)

func TestRealProperties(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ props, real, topic, queue, superseded, tags string }{
		"none":            {},
		"of a client":     {props: "A\x01b\x02REAL_X\x01c\x02", real: "A\x01b\x02REAL_X\x01c\x02"},
		"its own":         {props: "__WMQ_DUE\x01w5\x02A\x01b\x02__WMQ_SRC\x01x\x02", real: "A\x01b\x02"},
		"the target":      {props: "REAL_TOPIC\x01T\x02A\x01b\x02REAL_QID\x013\x02", real: "REAL_TOPIC\x01T\x02A\x01b\x02REAL_QID\x013\x02", topic: "T", queue: "3"},
		"the last counts": {props: "REAL_TOPIC\x01T\x02REAL_TOPIC\x01U\x02", real: "REAL_TOPIC\x01T\x02REAL_TOPIC\x01U\x02", topic: "U"},
		"left open":       {props: "A\x01b\x02__WMQ_DUE\x01w5", real: "A\x01b\x02"},
		"open at the end": {props: "__WMQ_DUE\x01w5\x02A\x01b", real: "A\x01b"},
		"superseding":     {props: "__WMQ_SUP\x01s\x02A\x01b\x02", real: "A\x01b\x02", superseded: "s"},
		"tags":            {props: "TAGS\x01a\x02TIMER_X\x01b\x02TAGSX\x01c\x02", real: "TAGS\x01a\x02TIMER_X\x01b\x02TAGSX\x01c\x02", tags: "a"},
		"two tags":        {props: "TAGS\x01a\x02TAGS\x01b\x01c\x02TAGS\x01\x02TAGS", real: "TAGS\x01a\x02TAGS\x01b\x01c\x02TAGS\x01\x02TAGS", tags: "b\x01c"},
		"tags at the end": {props: "A\x01TAGS\x01x\x02TAGS\x01d", real: "A\x01TAGS\x01x\x02TAGS\x01d", tags: "d"},
		"nothing to read": {props: "_\x02\x01x\x02\x02R\x01\x02A\x01b\x02more", real: "_\x02\x01x\x02\x02R\x01\x02A\x01b\x02more"},
	} {
		got := redeliver.RealProperties([]byte("0"), []byte(c.props))
		if string(got.Properties) != "0"+c.real || string(got.Topic) != c.topic || string(got.QueueID) != c.queue ||
			string(got.Superseded) != c.superseded || string(got.Tags) != c.tags {
			t.Errorf("%s: %q", name, got)
		}
		if tags, _ := message.PropertyGet([]byte(c.props), message.PropertyTags); string(tags) != c.tags {
			t.Errorf("%s: the tags are %q", name, tags)
		}
	}
}

func BenchmarkRealProperties(b *testing.B) {
	var props, dst []byte
	for _, p := range [][2]string{
		{message.PropertyUniqKey, "7F0000010A2B63947C6B0123456789AB"}, {message.PropertyWait, "true"},
		{message.PropertyMsgRegion, "DefaultRegion"}, {message.PropertyTraceOn, "true"}, {message.PropertyCluster, "DefaultCluster"},
		{message.PropertyTimerDeliverMs, "1800000005000"}, {message.PropertyTimerOutMs, "1800000005000"},
		{message.PropertyRealTopic, "orders"}, {message.PropertyRealQueueID, "3"}, {message.PropertyDueMs, "w1800000005000"},
	} {
		props = message.PropertyAppend(props, p[0], p[1])
	}
	b.ReportAllocs()
	for b.Loop() {
		dst = redeliver.RealProperties(dst[:0], props).Properties
	}
}
