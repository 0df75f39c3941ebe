package processor_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/remoting"
)

type sizes struct{ topics, offsets int }

func (s sizes) QueueTopics() []string { return make([]string, s.topics) }
func (s sizes) Rows() int             { return s.offsets }

func TestWithout(t *testing.T) {
	t.Parallel()
	of := sizes{topics: 34, offsets: 38}
	routes := (&processor.Without{Queues: of, Offsets: of}).Routes()
	for code, want := range map[int32]string{
		2002: "",
		2003: `{"runtimeTable":{},"configTable":{},"cgColdReadThreshold":3145728,"globalColdReadThreshold":104857600,"globalAcc":0}`,
		200074: `{"cqTableSize":34,"currentLmqNum":0,"eventMapSize":0,"groupMeta":{},"liteSubscriptionCount":0,"maxLmqNum":0,` +
			`"offsetTableSize":38,"orderInfoCount":0,"storeType":"default","topicMeta":{}}`,
	} {
		reply := request(t, routes, &conn{}, code, nil, "")
		if reply.Code != remoting.Success || string(reply.Body) != want {
			t.Errorf("%d is answered with code %d, %s; want %s", code, reply.Code, reply.Body, want)
		}
	}
}
