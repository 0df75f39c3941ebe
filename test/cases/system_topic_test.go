package cases

import (
	"context"
	"testing"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestSystemTopics_AreForTools keeps consumers from what is not visible yet; mqadmin and
// dashboards pull by their own group.
func TestSystemTopics_AreForTools(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	c.MustSend(t, wire.Send{Topic: suite.Name(t, "topic"), Body: []byte("later"), Properties: wire.Properties("DELAY", "18")})
	for _, topic := range []string{wire.ScheduleTopic, "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "rmq_sys_wheel_timer"} {
		pulled, err := c.Pull(context.Background(), wire.Pull{Group: suite.Name(t, "group"), Topic: topic})
		if err != nil {
			t.Fatal(err)
		}
		suite.Differs(t, "cases/system-topics-for-tools", pulled.Frame.Code == wire.NoPermission, pulled.Frame.String())
		tools, err := c.Pull(context.Background(), wire.Pull{Group: "TOOLS_CONSUMER", Topic: topic})
		if err != nil {
			t.Fatal(err)
		}
		if tools.Frame.Code == wire.NoPermission {
			t.Errorf("%s: the tools get %v", topic, tools.Frame)
		}
	}
}
