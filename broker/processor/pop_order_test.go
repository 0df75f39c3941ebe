package processor_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

// TestPop_WithoutOrderBesideOrder: what is handed out in order goes to nobody else, and who pops without order waits.
func TestPop_WithoutOrderBesideOrder(t *testing.T) {
	t.Parallel()
	l := newPopLab(t)
	l.put("T", 1, "", "a")
	first := l.pop(ext{"order": "true", "maxMsgNums": "1"})
	l.put("T", 1, "", "b")
	if reply := l.pop(nil); reply.Code != remoting.PollingTimeout {
		t.Errorf("popped %s", popped(t, reply))
	}
	wantPoppedOnAck(t, l, first, "b | 0 1 1 | 0 1 1")
}

// TestPop_AsTheRealBrokerBesideOrder: with profile=5.5.0 what was handed out in order goes to whoever pops
// without order as well, and the acknowledgements of the first do not take the group back.
func TestPop_AsTheRealBrokerBesideOrder(t *testing.T) {
	t.Parallel()
	l := newPopLab(t, func(o *processor.PopOptions) {
		var err error
		if o.Differences, err = difference.NewSet("5.5.0"); err != nil {
			t.Fatal(err)
		}
	})
	for _, body := range []string{"a", "b", "c"} {
		l.put("T", 1, "", body)
	}
	first := l.pop(ext{"order": "true", "maxMsgNums": "2"})
	if got := popped(t, l.pop(ext{"maxMsgNums": "2"})); got != "a b | 0 1 0 | 0 1 0,1" {
		t.Errorf("popped %s", got)
	}
	for _, offset := range []string{"0", "1"} {
		wantReply(t, l.request(&conn{id: 1}, remoting.AckMessage, poppedHandle(first, offset)), remoting.Success, "")
		if at := l.offsets.Query([]byte("g"), []byte("T"), 1); at != 2 {
			t.Errorf("the group is at %d, want 2", at)
		}
	}
	if got := popped(t, l.pop(nil)); got != "c | 0 1 2 | 0 1 2" {
		t.Errorf("then popped %s", got)
	}
}
