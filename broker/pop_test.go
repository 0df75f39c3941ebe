package broker_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/remoting"
)

// pop pops from queue 0 and returns the answer's header.
func (l *lab) pop(group string, most int32, order bool) (head remoting.PopMessageResponse) {
	l.t.Helper()
	var ext remoting.ExtWriter
	req := remoting.PopMessageRequest{
		ConsumerGroup: []byte(group), Topic: []byte("T"), MaxMsgNums: most, InvisibleTime: 60_000, Order: order,
	}
	req.Encode(&ext)
	reply := l.call(remoting.PopMessage, &ext, nil)
	if err := head.Decode(&reply.Ext); err != nil {
		l.t.Fatal(err)
	}
	return head
}

// TestPop_Lag is what the metrics tell of groups that pop: messages that are not finished with, in flight
// or ready.
func TestPop_Lag(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(1_800_000_000_000)
	defer l.close()
	for range 5 {
		l.send("T", 0, "x", 0)
	}
	for _, c := range []struct {
		group string
		order bool
	}{{"free", false}, {"ordered", true}} {
		head := l.pop(c.group, 3, c.order)
		var ext remoting.ExtWriter
		ack := remoting.AckMessageRequest{
			ConsumerGroup: []byte(c.group), Topic: []byte("T"), Offset: 0,
			ExtraInfo: fmt.Appendf(nil, "0 %d 60000 %d 0 broker-a 0 0", head.PopTime, head.ReviveQID),
		}
		ack.Encode(&ext)
		l.call(remoting.AckMessage, &ext, nil)
		for name, want := range map[string]float64{
			"rocketmq_consumer_lag_messages": 4, "rocketmq_consumer_inflight_messages": 2, "rocketmq_consumer_ready_messages": 2,
		} {
			if got := l.figure(name, c.group); got != want {
				t.Errorf("%s of group %s is %v, want %v", name, c.group, got, want)
			}
		}
	}
}

// figure is a gauge of a group in topic T.
func (l *lab) figure(name, group string) float64 {
	l.t.Helper()
	return l.gauge(name, map[string]string{"consumer_group": group, "topic": "T"})
}

// gauge is the gauge of a name that has at least these labels.
func (l *lab) gauge(name string, want map[string]string) float64 {
	l.t.Helper()
	families, err := l.metrics.(prometheus.Gatherer).Gather()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := make(map[string]string)
			for _, pair := range m.GetLabel() {
				if _, asked := want[pair.GetName()]; asked {
					labels[pair.GetName()] = pair.GetValue()
				}
			}
			if f.GetName() == name && maps.Equal(labels, want) {
				return m.GetGauge().GetValue()
			}
		}
	}
	l.t.Fatalf("no %s of %v", name, want)
	return 0
}
