package wheelmq_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/client"
)

// TestRecall_IsAllowedUnlessSomebodySaysNo: the default is this server's, so the profile of the
// real broker switches it off, but not what the operator has set.
func TestRecall_IsAllowedUnlessSomebodySaysNo(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]int32{
		"":                                       remoting.TopicNotExist, // which is looked at next
		"recallMessageEnable=true":               remoting.TopicNotExist,
		"profile=5.5.0 recallMessageEnable=true": remoting.TopicNotExist,
		"recallMessageEnable=false":              remoting.NoPermission,
		"profile=5.5.0":                          remoting.NoPermission,
		"brokerPermission=4":                     remoting.TopicNotExist,
		"brokerPermission=4 allowRecallWhenBrokerNotWriteable=false": remoting.ServiceNotAvailable,
	} {
		i := start(t, t.TempDir(), strings.Fields(set)...)
		var refused *remoting.Error
		if err := recall(t, i.BrokerAddr()); !errors.As(err, &refused) || refused.Code != want {
			t.Errorf("%q: %v, want code %d", set, err, want)
		}
		if err := i.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

func recall(t *testing.T, addr string) error {
	t.Helper()
	c, err := client.Dial(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var ext remoting.ExtWriter
	ext.String("topic", "NOPE")
	ext.String("recallHandle", "x")
	_, err = c.Call(t.Context(), remoting.RecallMessage, &ext, nil)
	return err
}
