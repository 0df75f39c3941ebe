package processor_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/remoting"
)

type asked int

func (a *asked) DeleteExpired() { *a++ }

func TestHousekeeping_DeletesExpiredFilesOnRequest(t *testing.T) {
	t.Parallel()
	var a asked
	routes := (&processor.Housekeeping{Store: &a}).Routes()
	wantReply(t, request(t, routes, &conn{}, remoting.DeleteExpiredCommitLog, nil, ""), remoting.Success, "")
	if a != 1 {
		t.Errorf("the store was asked %d times", a)
	}
}
