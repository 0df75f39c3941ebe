package broker_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

// TestPullAfterARestart: a group's members pull on before they tell the new process what they want.
func TestPullAfterARestart(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	l.send("T", 0, "a", 0)
	l.passively("G", "T").leave()
	l.close()
	l.open(startMs)
	defer l.close()
	for _, version := range []int64{1, 0} { // as Java clients name it, and as the Go client does
		o := &orderly{m: &sharing{lab: l, t: t}, conn: &wireConn{id: 1<<40 + l.conns.Add(1)}}
		var ext remoting.ExtWriter
		req := remoting.PullMessageRequest{
			ConsumerGroup: []byte("G"), Topic: []byte("T"), MaxMsgNums: 32, SubVersion: version, ExpressionType: []byte("TAG"),
		}
		req.Encode(&ext)
		if reply := o.do(remoting.PullMessage, &ext, nil); reply.Code != remoting.Success || count(reply.Body) != 1 {
			t.Errorf("version %d: code %d: %s, %d messages", version, reply.Code, reply.Remark, count(reply.Body))
		}
	}
}
