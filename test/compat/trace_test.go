package compat

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// traceTopic is where clients put what they record.
const traceTopic = "RMQ_SYS_TRACE_TOPIC"

// TestTrace_IsFoundByMessageID: the send and both ends of the consumption of a message.
func TestTrace_IsFoundByMessageID(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	conf := &primitive.TraceConfig{Access: primitive.Local, NamesrvAddrs: l.nameServer(), Resolver: primitive.NewPassthroughResolver(l.nameServer())}
	box := l.consume(t, consumer.WithTrace(conf))
	p := l.producer(t, producer.WithTrace(conf))
	sent := send(t, p, l.message("follow me").WithKeys([]string{"trace-key"}))
	box.wantOnce(t, "follow me")
	want := []string{"Pub", "SubAfter", "SubBefore"}
	var kinds []string
	t.Cleanup(func() { t.Logf("records of %s: %q", sent.MsgID, kinds) })
	suite.Eventually(t, limit, "records of the message", func() bool {
		kinds = recordsOf(t, l.wire, sent.MsgID)
		return slices.Equal(kinds, want)
	})
}

// recordsOf are the kinds of records about a message, sorted.
func recordsOf(t *testing.T, c *wire.Conn, id string) []string {
	t.Helper()
	var kinds []string
	found, _ := c.Query(t, wire.Query{Topic: traceTopic, Key: id})
	for _, m := range found {
		for record := range strings.SplitSeq(string(m.Body), "\x02") {
			if fields := strings.Split(record, "\x01"); slices.Contains(fields, id) {
				kinds = append(kinds, fields[0])
			}
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
