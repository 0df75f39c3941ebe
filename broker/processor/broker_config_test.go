package processor_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestUpdateBrokerConfig(t *testing.T) {
	t.Parallel()
	differences, err := difference.NewSet("5.5.0")
	if err != nil {
		t.Fatal(err)
	}
	var full error
	live, _ := config.NewLive(config.Default(), nil, func(map[string]config.Override) error { return full })
	routes := (&processor.BrokerConfig{Config: live, Differences: differences, Log: quiet()}).Routes()
	update := func(body string) *remoting.Command {
		t.Helper()
		return request(t, routes, &conn{}, remoting.UpdateBrokerConfig, nil, body)
	}
	for body, want := range map[string]struct {
		code   int32
		remark string // a part
	}{
		"":                           {remoting.Success, ""},
		"# nothing\n":                {remoting.Success, ""},
		"fileReservedTime=48\n":      {remoting.Success, ""},
		"brokerConfigPath=/tmp/x\n":  {remoting.NoPermission, "Can not update config in black list."},
		"storePathRootDir=/tmp/x\n":  {remoting.NoPermission, "never"},
		"noSuchKeyAtAll=1\n":         {remoting.InvalidParameter, "unknown key"},
		"maxMessageSize=notanumber":  {remoting.InvalidParameter, "maxMessageSize"},
		"maxMsgsNumBatch=10\n":       {remoting.InvalidParameter, "needs a restart"},
		"fileReservedTime=\\uXXXX\n": {remoting.InvalidParameter, "properties"},
	} {
		reply := update(body)
		if reply.Code != want.code || !strings.Contains(reply.Remark, want.remark) {
			t.Errorf("%q: code %d, %q; want %d, %q", body, reply.Code, reply.Remark, want.code, want.remark)
		}
	}
	if live.Get().FileReservedTime != 48 {
		t.Errorf("fileReservedTime %d, want 48", live.Get().FileReservedTime)
	}
	full = errors.New("the disk is full")
	wantReply(t, update("fileReservedTime=49"), remoting.SystemError, "nothing is changed: config: keep the change: the disk is full")
	if n := differences.Used()["config-checked"]; n != 3 {
		t.Errorf("config-checked was relied on %d times, want 3", n)
	}
}
