package redeliver_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/message"
)

func TestRealProperties(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ props, real, topic, queue, superseded string }{
		"none":            {},
		"of a client":     {props: "A\x01b\x02REAL_X\x01c\x02", real: "A\x01b\x02REAL_X\x01c\x02"},
		"its own":         {props: "__WMQ_DUE\x01w5\x02A\x01b\x02__WMQ_SRC\x01x\x02", real: "A\x01b\x02"},
		"the target":      {props: "REAL_TOPIC\x01T\x02A\x01b\x02REAL_QID\x013\x02", real: "REAL_TOPIC\x01T\x02A\x01b\x02REAL_QID\x013\x02", topic: "T", queue: "3"},
		"the last counts": {props: "REAL_TOPIC\x01T\x02REAL_TOPIC\x01U\x02", real: "REAL_TOPIC\x01T\x02REAL_TOPIC\x01U\x02", topic: "U"},
		"left open":       {props: "A\x01b\x02__WMQ_DUE\x01w5", real: "A\x01b\x02"},
		"open at the end": {props: "__WMQ_DUE\x01w5\x02A\x01b", real: "A\x01b"},
		"superseding":     {props: "__WMQ_SUP\x01s\x02A\x01b\x02", real: "A\x01b\x02", superseded: "s"},
		"nothing to read": {props: "_\x02\x01x\x02\x02R\x01\x02A\x01b\x02more", real: "_\x02\x01x\x02\x02R\x01\x02A\x01b\x02more"},
	} {
		real, topic, queue, superseded := redeliver.RealProperties([]byte("0"), []byte(c.props))
		if string(real) != "0"+c.real || string(topic) != c.topic || string(queue) != c.queue || string(superseded) != c.superseded {
			t.Errorf("%s: %q, topic %q, queue %q, superseded %q", name, real, topic, queue, superseded)
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
		dst, _, _, _ = redeliver.RealProperties(dst[:0], props)
	}
}
