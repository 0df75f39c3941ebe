package processor_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestReplica(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	place := l.put("T", 0, "", "x")
	l.offsets.Commit([]byte("g"), []byte("T"), 1, 2)
	routes := (&processor.Replica{
		ConsumerOffsets: l.offsets.Marshal, DelayOffsets: func() ([]byte, error) { return nil, errors.New("closed") }, Store: l.store,
	}).Routes()
	reply := request(t, routes, &conn{}, remoting.GetAllConsumerOffset, nil, "")
	wantReply(t, reply, remoting.Success, "")
	var offsets struct {
		OffsetTable map[string]map[string]int64 `json:"offsetTable"`
	}
	if err := json.Unmarshal(reply.Body, &offsets); err != nil || offsets.OffsetTable["T@g"]["1"] != 2 {
		t.Errorf("consumer offsets %s, %v", reply.Body, err)
	}
	wantReply(t, request(t, routes, &conn{}, remoting.GetAllDelayOffset, nil, ""), remoting.SystemError, "")
	reply = request(t, routes, &conn{}, remoting.GetBrokerHAStatus, nil, "")
	wantReply(t, reply, remoting.Success, "")
	var status struct {
		Master                   bool
		MasterCommitLogMaxOffset int64
		InSyncSlaveNums          int
	}
	if err := json.Unmarshal(reply.Body, &status); err != nil || !status.Master || status.MasterCommitLogMaxOffset != place.CommitLogOffset+int64(place.Size) {
		t.Errorf("status %s, %v", reply.Body, err)
	}
	wantReply(t, request(t, routes, &conn{}, remoting.ResetMasterFlushOffset, ext{"masterFlushOffset": "0"}, ""), remoting.Success, "")
	wantReply(t, request(t, routes, &conn{}, remoting.ResetMasterFlushOffset, nil, ""), remoting.SystemError, "the custom field <masterFlushOffset> is null")
	wantReply(t, request(t, routes, &conn{}, remoting.ResetMasterFlushOffset, ext{"masterFlushOffset": "x"}, ""), remoting.SystemError, "")
	reply = request(t, routes, &conn{}, remoting.GetBrokerEpochCache, nil, "")
	if !strings.Contains(reply.Remark, "controllerMode") {
		t.Errorf("epochs: %q", reply.Remark)
	}
}
