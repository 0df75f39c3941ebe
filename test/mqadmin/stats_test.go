package mqadmin

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

const viewBrokerStatsData = 315

// absent and some: there is no such statistics; a sum of ms that nobody knows.
const absent, some = -1, -2

// counted are the sums that VIEW_BROKER_STATS_DATA answers of the minute after what TestStatistics does.
var counted = []struct {
	name, key string
	sum       int64
}{
	{"TOPIC_PUT_NUMS", "ST_Topic", 7},
	{"TOPIC_PUT_NUMS", "SCHEDULE_TOPIC_XXXX", 2},
	{"TOPIC_PUT_NUMS", "rmq_sys_wheel_timer", 1},
	{"TOPIC_PUT_NUMS", "%RETRY%ST_Group", 1},
	{"TOPIC_PUT_NUMS", "ST_None", absent},
	{"GROUP_GET_NUMS", "ST_Topic@ST_Group", 5},
	{"GROUP_GET_NUMS", "ST_Topic@ST_None", absent},
	{"GROUP_GET_NUMS", "SCHEDULE_TOPIC_XXXX@SCHEDULE_CONSUMER", 2},
	{"SNDBCK_PUT_NUMS", "ST_Topic@ST_Group", 1},
	{"SNDBCK2DLQ_TIMES", "ST_Topic@ST_Group", absent},
	{"QUEUE_PUT_NUMS", "SCHEDULE_TOPIC_XXXX@0", 2},
	{"QUEUE_PUT_NUMS", "ST_Topic@0", absent},
	{"QUEUE_GET_NUMS", "SCHEDULE_TOPIC_XXXX@0@SCHEDULE_CONSUMER", 2},
	{"TOPIC_PUT_LATENCY", "0@ST_Topic", some},
	{"TOPIC_PUT_LATENCY", "0@SCHEDULE_TOPIC_XXXX", some},
	{"GROUP_GET_LATENCY", "0@ST_Topic@ST_Group", some},
	{"GROUP_ACK_NUMS", "ST_Topic@ST_Group", absent},
	{"GROUP_CK_NUMS", "ST_Topic@ST_Group", absent},
	{"BROKER_PUT_NUMS", "DefaultCluster", 11}, // one is of who asked whether the server is up
	{"BROKER_GET_NUMS", "DefaultCluster", 5},
	{"BROKER_PUT_NUMS", "NoCluster", absent},
	{"BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC", "DefaultCluster", 8},
	{"BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC", "DefaultCluster", 5},
	{"BROKER_ACK_NUMS", "DefaultCluster", absent},
	{"NO_SUCH_NAME", "ST_Topic", absent},
}

type period struct {
	Sum        int64   `json:"sum"`
	TPS, AvgPT float64 // per second; mean of one addition
}

type statistics struct {
	Minute period `json:"statsMinute"`
	Hour   period `json:"statsHour"`
	Day    period `json:"statsDay"`
}

func view(t *testing.T, c *wire.Conn, name, key string) (statistics, bool) {
	t.Helper()
	answer := c.Call(t, viewBrokerStatsData, map[string]string{"statsName": name, "statsKey": key}, nil)
	var s statistics
	if answer.Code != wire.Success {
		if want := fmt.Sprintf("The stats <%s> <%s> not exist", name, key); answer.Code != wire.SystemError || answer.Remark != want {
			t.Errorf("%s of %s: %v", name, key, answer)
		}
		return s, false
	}
	if err := json.Unmarshal(answer.Body, &s); err != nil {
		t.Fatalf("%s: %v", answer.Body, err)
	}
	return s, true
}

// TestStatistics counts what is put and got, delayed, sent back and popped.
func TestStatistics(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, nil)
	c := wire.Dial(t, target.BrokerAddr)
	c.MustCreateTopic(t, "ST_Topic", 1)
	wire.Introduce(t, target.BrokerAddr, "ST_Group", "ST_Topic")
	for range 5 {
		c.MustSend(t, wire.Send{Topic: "ST_Topic", Body: []byte("0123456789")})
	}
	got := c.MustPull(t, wire.Pull{Group: "ST_Group", Topic: "ST_Topic"})
	if len(got.Messages) != 5 {
		t.Fatalf("%d messages", len(got.Messages))
	}
	c.MustSend(t, wire.Send{Topic: "ST_Topic", Properties: wire.Properties("DELAY", "1"), Body: []byte("late")})
	c.MustSend(t, wire.Send{Topic: "ST_Topic", Properties: wire.Properties("TIMER_DELAY_MS", "2000"), Body: []byte("late")})
	c.SendBack(t, "ST_Group", "ST_Topic", got.Messages[0].CommitLogOffset, 1)
	c.Settle(t, "ST_Topic", 0, 7)
	c.Settle(t, "%RETRY%ST_Group", 0, 1)
	suite.Eventually(t, 3*time.Minute, "all is counted", func() bool {
		s, ok := view(t, c, "TOPIC_PUT_NUMS", "ST_Topic")
		return ok && s.Minute.Sum == 7
	})
	for _, row := range counted {
		s, ok := view(t, c, row.name, row.key)
		if ok != (row.sum != absent) || ok && row.sum != some && s.Minute.Sum != row.sum {
			t.Errorf("%s of %s: %v %+v, want %d", row.name, row.key, ok, s.Minute, row.sum)
		}
	}
	s, _ := view(t, c, "TOPIC_PUT_SIZE", "ST_Topic")
	if s.Minute.Sum < 7*100 || s.Minute.AvgPT < 100 || s.Minute.TPS <= 0 {
		t.Errorf("bytes put %+v", s.Minute)
	}
}
