package fault_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/fault"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestRule_Check(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule fault.Rule
		want string // in the error; "": valid
	}{
		{fault.Rule{Respond: remoting.SystemBusy}, ""},
		{fault.Rule{Code: remoting.SendMessageV2, Topic: "orders", Group: "g", Skip: 1, Count: 2, DropReply: true}, ""},
		{fault.Rule{Delay: time.Second}, ""},
		{fault.Rule{CloseConn: true}, ""},
		{fault.Rule{BrokerMissing: true, Topic: "orders", Count: 1}, ""},
		{fault.Rule{FsyncFails: true, Skip: 3}, "neither skip nor count"},
		{fault.Rule{}, "it has no action"},
		{fault.Rule{Topic: "orders"}, "it has no action"},
		{fault.Rule{DropReply: true, Delay: 1}, "it has the actions delayMs, dropReply"},
		{fault.Rule{DropReply: true, ID: "a b"}, `id "a b"`},
		{fault.Rule{DropReply: true, Skip: -1}, "skip is -1"},
		{fault.Rule{DropReply: true, Count: -1}, "count is -1"},
		{fault.Rule{DropReply: true, Code: -1}, "code is -1"},
		{fault.Rule{Delay: -time.Second}, "delayMs is -1000"},
		{fault.Rule{Respond: -1}, "respond is -1"},
		{fault.Rule{DropReply: true, Remark: "x"}, "remark goes with respond, not with dropReply"},
		{fault.Rule{DropReply: true, Code: remoting.HeartBeat, Group: "g"}, "HEART_BEAT"},
		{fault.Rule{DiskFull: true, Code: 10}, "diskFull is a state of the server, not of requests: it takes no code"},
		{fault.Rule{FsyncFails: true, Group: "g"}, "takes no group"},
		{fault.Rule{SchedulerStalled: true, Topic: "t"}, "takes no topic"},
		{fault.Rule{SchedulerStalled: true, Count: 1}, "neither skip nor count"},
		{fault.Rule{DiskFull: true, Skip: 1}, "neither skip nor count"},
	} {
		err := c.rule.Check()
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, fault.ErrInvalid) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.rule, err, c.want)
		}
	}
}

func TestRule_JSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]fault.Rule{
		`{"code":"SEND_MESSAGE_V2","topic":"orders","respond":"SYSTEM_BUSY","count":2,"remark":"later"}`: {
			Code: remoting.SendMessageV2, Topic: "orders", Respond: remoting.SystemBusy, Count: 2, Remark: "later"},
		`{"code":310,"delayMs":1500,"skip":1,"id":"slow"}`: {Code: remoting.SendMessageV2, Delay: 1500 * time.Millisecond, Skip: 1, ID: "slow"},
		`{"code":"11","dropReply":true,"group":"g"}`:       {Code: remoting.PullMessage, DropReply: true, Group: "g"},
		`{"closeConn":true}`:                               {CloseConn: true},
		`{"diskFull":true}`:                                {DiskFull: true},
		`{"fsyncFails":true}`:                              {FsyncFails: true},
		`{"brokerMissing":true}`:                           {BrokerMissing: true},
		`{"schedulerStalled":true}`:                        {SchedulerStalled: true},
	} {
		var got fault.Rule
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		again, err := json.Marshal(got)
		var back fault.Rule
		if err != nil || json.Unmarshal(again, &back) != nil || !reflect.DeepEqual(back, want) {
			t.Errorf("%s became %s, %v", text, again, err)
		}
	}
	for text, want := range map[string]string{
		`{"code":"SEND","dropReply":true}`: `code is "SEND", which is no code's name`,
		`{"respond":"BUSY"}`:               `respond is "BUSY"`,
		`{"code":1.5,"dropReply":true}`:    "code is 1.5",
		`{"code":true}`:                    "code is true",
		`{"drop":true}`:                    `unknown field "drop"`,
		`{"delayMs":"1s"}`:                 "delayMs",
		`{"delayMs":1000000000000}`:        "at most a day",
		`[]`:                               "invalid",
	} {
		var got fault.Rule
		if err := json.Unmarshal([]byte(text), &got); !errors.Is(err, fault.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
