package processor_test

import (
	"fmt"
	"strings"
	"testing"

	logs "github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/remoting"
)

// TestPop_ABrokenFilterIsLoggedOnce: consumers pop again and again with what cannot be read.
func TestPop_ABrokenFilterIsLoggedOnce(t *testing.T) {
	t.Parallel()
	log, hook := logs.NewNullLogger()
	l := newPopLab(t, func(o *processor.PopOptions) { o.Log = log })
	for range 3 {
		for _, fields := range []ext{{"expType": "SQL92", "exp": "a >>> 1"}, {"expType": "SQL92", "exp": "a <<< 1"}} {
			for _, code := range []int32{remoting.PopMessage, remoting.Notification} {
				wantReply(t, l.request(&conn{id: 1}, code, fields), remoting.SubscriptionParseFailed, "parse the consumer's subscription failed")
			}
		}
	}
	for i, want := range []string{">>>", "<<<"} {
		if all := hook.AllEntries(); len(all) != 2 || all[i].Data["group"] != "g" || !strings.Contains(fmt.Sprint(all[i].Data["error"]), want) {
			t.Errorf("logged %v, want two lines", all)
		}
	}
}
