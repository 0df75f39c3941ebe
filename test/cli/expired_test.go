package cli

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// deleteExpired is DELETE_EXPIRED_COMMITLOG.
const deleteExpired = 329

// A clock that can be turned makes messages old; only this server has one.
func TestWhy_Expired(t *testing.T) {
	t.Parallel()
	if peer.TargetKind() == peer.Real {
		t.Skip("the real broker has no clock to turn")
	}
	target := peer.StartVirtual(t, peer.HomeDir(t), map[string]string{"maxMessageSize": "2048", "mappedFileSizeCommitLog": "131072", "fileReservedTime": "1", "flushCommitLogThoroughInterval": "50"})
	c := wire.Dial(t, target.BrokerAddr)
	c.MustCreateTopic(t, "orders", 1)
	first := sendOld(t, target.NameServerAddr)
	// What is kept is younger than the id.
	advance(t, target, "10s")
	for range 300 {
		c.MustSend(t, wire.Send{Topic: "orders", Body: make([]byte, 1024)})
	}
	advance(t, target, "3h")
	suite.Eventually(t, patience, "the first log file is deleted", func() bool {
		c.Call(t, deleteExpired, nil, nil)
		_, answer := c.View(t, 0)
		return answer.Code != wire.Success
	})
	for _, id := range []string{first.MsgID, first.OffsetMsgID} {
		o := runOn(t, target.NameServerAddr, "", "why", id, "--json")
		var e explanation
		if err := json.Unmarshal([]byte(o.stdout), &e); err != nil || e.State != "expired" || !strings.Contains(e.Sentence, "the oldest record that broker-a keeps is at ") {
			t.Errorf("%s: %+v, %v", id, o, err)
		}
	}
}

func sendOld(t *testing.T, nameServer string) (s sent) {
	t.Helper()
	o := runOn(t, nameServer, "", "send", "orders", "old", "--json")
	if err := json.Unmarshal([]byte(o.stdout), &s); err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	return s
}

func advance(t *testing.T, target *peer.Target, by string) {
	t.Helper()
	reply, err := http.Post("http://"+target.HTTPAddr+"/test/clock/advance?duration="+by, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		t.Fatalf("advance: %s", reply.Status)
	}
}
