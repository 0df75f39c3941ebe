package control

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// counter hands out queues in turn.
type counter struct{ n atomic.Uint32 }

// defaultQueues is how many queues a client asks for when a topic is new.
const defaultQueues = 4

// producerGroup names the sender in a message's header.
const producerGroup = "WHEELMQ_TEST"

// Produce stores a message the way a client's send does: the topic is created when it may be,
// and delays apply. Fault rules do not.
func (c *Control) Produce(ctx context.Context, p Produce) (Produced, error) {
	b, err := c.live()
	if err != nil {
		return Produced{}, err
	}
	now := b.NowMillis()
	id := string(message.AppendUniqKey(nil, netip.MustParseAddr("127.0.0.1"), now))
	if own := p.Properties[message.PropertyUniqKey]; own != "" {
		id = own
	}
	props, err := p.encode(id)
	if err != nil {
		return Produced{}, err
	}
	req := remoting.SendMessageRequest{
		ProducerGroup: []byte(producerGroup), Topic: []byte(p.Topic), DefaultTopic: []byte(message.TopicAutoCreate), DefaultTopicQueueNums: defaultQueues,
		QueueID: c.queueOf(b, p), BornTimestamp: now, Properties: props,
	}
	var ext remoting.ExtWriter
	req.EncodeV2(&ext)
	reply, err := b.Call(ctx, remoting.SendMessageV2, &ext, p.Body)
	if err != nil {
		return Produced{}, err
	}
	if reply.Code != remoting.Success {
		return Produced{}, refusal(reply)
	}
	var sent remoting.SendMessageResponse
	if err := sent.Decode(&reply.Ext); err != nil {
		return Produced{}, fmt.Errorf("control: reply of a send: %w", err)
	}
	return Produced{MsgID: id, OffsetMsgID: sent.MsgID, QueueID: sent.QueueID, QueueOffset: sent.QueueOffset}, nil
}

// queueOf is the queue asked for, or the next in turn.
func (c *Control) queueOf(b *broker.Broker, p Produce) int32 {
	if p.QueueID != nil {
		return *p.QueueID
	}
	queues := int32(defaultQueues)
	if t := b.TopicConfig(p.Topic); t != nil {
		queues = max(1, t.WriteQueueNums)
	}
	return int32(c.turns.n.Add(1)-1) % queues
}

// encode are the properties as they are stored.
func (p *Produce) encode(id string) ([]byte, error) {
	all := maps.Clone(p.Properties)
	if all == nil {
		all = make(map[string]string)
	}
	all[message.PropertyUniqKey] = id
	for name, value := range map[string]string{message.PropertyTags: p.Tags, message.PropertyKeys: p.Keys} {
		if value != "" {
			all[name] = value
		}
	}
	if p.DelayLevel != 0 {
		all[message.PropertyDelay] = strconv.Itoa(p.DelayLevel)
	}
	var props []byte
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "" || strings.ContainsAny(name+all[name], "\x00\x01\x02") {
			return nil, fmt.Errorf("%w: property %q: names and values must not hold the bytes 0, 1 and 2", ErrInvalid, name)
		}
		props = message.PropertyAppend(props, name, all[name])
	}
	return props, nil
}
