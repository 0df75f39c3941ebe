package processor_test

import (
	"strconv"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

// BenchmarkPopAndAck pops 32 messages and acknowledges each by itself; it is a message that is counted.
func BenchmarkPopAndAck(b *testing.B) {
	l := newPopLab(b)
	router := remoting.NewRouter(l.routes, remoting.RouterOptions{Log: quiet()})
	c := &conn{id: 1}
	for range b.N {
		l.put("T", 0, "", "0123456789012345678901234567890123456789")
	}
	pop := ext{
		"consumerGroup": "g", "topic": "T", "queueId": "-1", "maxMsgNums": "32", "invisibleTime": "60000", "pollTime": "0", "bornTime": "0", "initMode": "0",
		"exp": "*", "expType": "TAG", "order": "false",
	}
	var popEx, ackEx remoting.Exchange
	popEx.Req.Code, ackEx.Req.Code = remoting.PopMessage, remoting.AckMessage
	for key, value := range pop {
		popEx.Req.Ext.Set(key, value)
	}
	frame := make([]byte, 0, 1<<16)
	b.ReportAllocs()
	b.ResetTimer()
	handle := make([]byte, 0, 64)
	for at := 0; at < b.N; {
		popEx.Begin(c)
		router.Serve(&popEx)
		n := len(popEx.Reply.Parts)
		frame = remoting.AppendReplyHead(frame[:0], 1, &popEx.Reply)
		popEx.Reply.Release()
		for i := range n {
			handle = append(handle[:0], "0 "...)
			handle = append(append(handle, popEx.Reply.Ext.Value("popTime")...), " 60000 1 0 broker-a 0 "...)
			handle = strconv.AppendInt(handle, int64(at+i), 10)
			ackEx.Req.Ext.Reset()
			ackEx.Req.Ext.Add([]byte("consumerGroup"), []byte("g"))
			ackEx.Req.Ext.Add([]byte("topic"), []byte("T"))
			ackEx.Req.Ext.Add([]byte("queueId"), []byte("0"))
			ackEx.Req.Ext.Add([]byte("offset"), strconv.AppendInt(nil, int64(at+i), 10))
			ackEx.Req.Ext.Add([]byte("extraInfo"), handle)
			ackEx.Begin(c)
			router.Serve(&ackEx)
			frame = remoting.AppendReplyHead(frame[:0], 1, &ackEx.Reply)
		}
		at += n
	}
	b.StopTimer()
	if n := l.pops.InFlight("g", "T"); n != 0 {
		b.Errorf("%d are in flight", n)
	}
}
