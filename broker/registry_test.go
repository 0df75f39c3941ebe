package broker_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

// TestForbiddenTopic_IsServed: the handler gets all it needs from the broker.
func TestForbiddenTopic_IsServed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	t.Cleanup(func() { l.close() })
	for _, readable := range []string{"false", "true"} {
		var ext remoting.ExtWriter
		ext.String("group", "G")
		ext.String("topic", "T")
		ext.String("readable", readable)
		reply := l.call(remoting.UpdateAndGetGroupForbidden, &ext, nil)
		if want := `{"group":"G","readable":` + readable + `,"topic":"T"}`; string(reply.Body) != want {
			t.Errorf("got %s, want %s", reply.Body, want)
		}
	}
}
