package processor_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/remoting"
)

// FuzzPopHandle: whatever a client hands back as a handle, or as the bits of a batch, has no effect on
// others and an answer that says what is wrong with it.
func FuzzPopHandle(f *testing.F) {
	for _, handle := range []string{
		"", " ", "0 1796003290480 15000 4 0 broker-a 0 0", "0 1 2 3 0", "-1 -1 -1 -1 0 b", "0 999999999999999999 9 9 9 b",
		"0 1 2 99999999999 0 b", "9223372036854775808 1 2 3 0 b", "0\x001 2 3 0 b", "0 1 2 3 0 b 0 0 0 0",
	} {
		f.Add(handle, int64(0), []byte{0xff, 0x80})
		f.Add(handle, int64(-1), []byte(handle))
	}
	l := newPopLab(f)
	l.put("T", 0, "", "a")
	first := l.pop(ext{"invisibleTime": "600000"})
	popTime := field(first, "popTime")
	f.Fuzz(func(t *testing.T, handle string, start int64, bits []byte) {
		if strings.Contains(handle, popTime) {
			t.Skip("it may be the good one")
		}
		fields := ext{"consumerGroup": "g", "topic": "T", "queueId": "0", "offset": "0", "extraInfo": handle, "invisibleTime": "1000"}
		for _, code := range []int32{remoting.AckMessage, remoting.ChangeMessageInvisibleTime} {
			wantKnownAnswer(t, request(t, l.routes, &conn{}, code, fields, ""))
		}
		body, err := json.Marshal(map[string]any{"acks": []any{map[string]any{
			"c": "g", "t": "T", "r": "0", "so": start, "q": 0, "pt": 1, "b": bits,
		}}})
		if err != nil {
			t.Fatal(err)
		}
		wantKnownAnswer(t, request(t, l.routes, &conn{}, remoting.BatchAckMessage, nil, string(body)))
		if _, _, flies := l.pops.Flight(pop.Key{Group: "g", Topic: "T"}, 0); !flies {
			t.Error("the message is not in flight any more")
		}
	})
}

// wantKnownAnswer wants success, or one of the codes for handles with a remark of the handler's own: a panic
// is answered with one of the router's.
func wantKnownAnswer(t *testing.T, reply *remoting.Command) {
	t.Helper()
	switch {
	case reply == nil:
		t.Error("there is no answer")
	case reply.Code == remoting.Success:
	case reply.Code != remoting.SystemError && reply.Code != remoting.NoMessage, reply.Remark == "", strings.HasPrefix(reply.Remark, "internal error"):
		t.Errorf("code %d, %q", reply.Code, reply.Remark)
	}
}
