package embed

import (
	"testing"

	"github.com/wheelmq/wheelmq/wheelmqtest"
)

func TestStart_NeedsNothing(t *testing.T) {
	t.Parallel()
	mq := wheelmqtest.Start(t)
	if mq.NameServerAddr() == "" || mq.BrokerAddr() == "" || mq.HTTPAddr() == "" {
		t.Errorf("addresses %q, %q, %q", mq.NameServerAddr(), mq.BrokerAddr(), mq.HTTPAddr())
	}
}
