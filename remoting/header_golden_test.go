package remoting_test

import (
	"errors"
	"reflect"
	"strconv"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

// typedHeader is what every header struct does.
type typedHeader interface {
	Decode(*remoting.Fields) error
	Encode(*remoting.ExtWriter)
}

// sendV2 is a send's header under its letters.
type sendV2 struct{ remoting.SendMessageRequest }

func (h *sendV2) Encode(w *remoting.ExtWriter) { h.EncodeV2(w) }

// requestHeaders make the header struct of a request code.
var requestHeaders = map[int32]func() typedHeader{
	remoting.SendMessage:                     func() typedHeader { return new(remoting.SendMessageRequest) },
	remoting.SendMessageV2:                   func() typedHeader { return new(sendV2) },
	remoting.SendBatchMessage:                func() typedHeader { return new(sendV2) },
	remoting.SendReplyMessage:                func() typedHeader { return new(remoting.SendMessageRequest) },
	remoting.SendReplyMessageV2:              func() typedHeader { return new(sendV2) },
	remoting.PullMessage:                     func() typedHeader { return new(remoting.PullMessageRequest) },
	remoting.LitePullMessage:                 func() typedHeader { return new(remoting.PullMessageRequest) },
	remoting.QueryMessage:                    func() typedHeader { return new(remoting.QueryMessageRequest) },
	remoting.QueryConsumerOffset:             func() typedHeader { return new(remoting.QueryConsumerOffsetRequest) },
	remoting.UpdateConsumerOffset:            func() typedHeader { return new(remoting.UpdateConsumerOffsetRequest) },
	remoting.UpdateAndCreateTopic:            func() typedHeader { return new(remoting.CreateTopicRequest) },
	remoting.GetAllTopicConfig:               func() typedHeader { return new(remoting.GetAllTopicConfigRequest) },
	remoting.SearchOffsetByTimestamp:         func() typedHeader { return new(remoting.SearchOffsetRequest) },
	remoting.GetMaxOffset:                    func() typedHeader { return new(remoting.GetMaxOffsetRequest) },
	remoting.GetMinOffset:                    func() typedHeader { return new(remoting.GetMinOffsetRequest) },
	remoting.GetEarliestMsgStoretime:         func() typedHeader { return new(remoting.GetEarliestMsgStoretimeRequest) },
	remoting.ViewMessageByID:                 func() typedHeader { return new(remoting.ViewMessageRequest) },
	remoting.UnregisterClient:                func() typedHeader { return new(remoting.UnregisterClientRequest) },
	remoting.ConsumerSendMsgBack:             func() typedHeader { return new(remoting.ConsumerSendMsgBackRequest) },
	remoting.EndTransaction:                  func() typedHeader { return new(remoting.EndTransactionRequest) },
	remoting.GetConsumerListByGroup:          func() typedHeader { return new(remoting.GetConsumerListByGroupRequest) },
	remoting.CheckTransactionState:           func() typedHeader { return new(remoting.CheckTransactionStateRequest) },
	remoting.NotifyConsumerIDsChanged:        func() typedHeader { return new(remoting.NotifyConsumerIdsChangedRequest) },
	remoting.PutKVConfig:                     func() typedHeader { return new(remoting.KVConfigRequest) },
	remoting.GetKVConfig:                     func() typedHeader { return new(remoting.KVConfigRequest) },
	remoting.DeleteKVConfig:                  func() typedHeader { return new(remoting.KVConfigRequest) },
	remoting.RegisterBroker:                  func() typedHeader { return new(remoting.RegisterBrokerRequest) },
	remoting.UnregisterBroker:                func() typedHeader { return new(remoting.UnregisterBrokerRequest) },
	remoting.GetRouteInfoByTopic:             func() typedHeader { return new(remoting.GetRouteInfoRequest) },
	remoting.GetAllSubscriptionGroupConfig:   func() typedHeader { return new(remoting.GetAllSubscriptionGroupRequest) },
	remoting.GetTopicStatsInfo:               func() typedHeader { return new(remoting.GetTopicStatsRequest) },
	remoting.GetConsumerConnectionList:       func() typedHeader { return new(remoting.GetConsumerConnectionListRequest) },
	remoting.GetProducerConnectionList:       func() typedHeader { return new(remoting.GetProducerConnectionListRequest) },
	remoting.WipeWritePermOfBroker:           func() typedHeader { return new(remoting.WritePermRequest) },
	remoting.AddWritePermOfBroker:            func() typedHeader { return new(remoting.WritePermRequest) },
	remoting.DeleteSubscriptionGroup:         func() typedHeader { return new(remoting.DeleteSubscriptionGroupRequest) },
	remoting.GetConsumeStats:                 func() typedHeader { return new(remoting.GetConsumeStatsRequest) },
	remoting.DeleteTopicInBroker:             func() typedHeader { return new(remoting.DeleteTopicRequest) },
	remoting.DeleteTopicInNamesrv:            func() typedHeader { return new(remoting.DeleteTopicInNamesrvRequest) },
	remoting.GetKVListByNamespace:            func() typedHeader { return new(remoting.GetKVListByNamespaceRequest) },
	remoting.InvokeBrokerToResetOffset:       func() typedHeader { return new(remoting.InvokeBrokerToResetOffsetRequest) },
	remoting.InvokeBrokerToGetConsumerStatus: func() typedHeader { return new(remoting.InvokeBrokerToGetConsumerStatusRequest) },
	remoting.GetConsumerStatusFromClient:     func() typedHeader { return new(remoting.GetConsumerStatusFromClientRequest) },
	remoting.GetTopicsByCluster:              func() typedHeader { return new(remoting.GetTopicsByClusterRequest) },
	remoting.QueryTopicConsumeByWho:          func() typedHeader { return new(remoting.TopicRequest) },
	remoting.QueryConsumeTimeSpan:            func() typedHeader { return new(remoting.QueryConsumeTimeSpanRequest) },
	remoting.GetConsumerRunningInfo:          func() typedHeader { return new(remoting.GetConsumerRunningInfoRequest) },
	remoting.ConsumeMessageDirectly:          func() typedHeader { return new(remoting.ConsumeMessageDirectlyRequest) },
	remoting.CloneGroupOffset:                func() typedHeader { return new(remoting.CloneGroupOffsetRequest) },
	remoting.ViewBrokerStatsData:             func() typedHeader { return new(remoting.ViewBrokerStatsDataRequest) },
	remoting.GetBrokerConsumeStats:           func() typedHeader { return new(remoting.GetBrokerConsumeStatsRequest) },
	remoting.QueryConsumeQueue:               func() typedHeader { return new(remoting.QueryConsumeQueueRequest) },
	remoting.QueryDataVersion:                func() typedHeader { return new(remoting.QueryDataVersionRequest) },
	remoting.ResumeCheckHalfMessage:          func() typedHeader { return new(remoting.ResumeCheckHalfMessageRequest) },
	remoting.PushReplyMessageToClient:        func() typedHeader { return new(remoting.PushReplyMessageRequest) },
	remoting.QueryTopicsByConsumer:           func() typedHeader { return new(remoting.QueryTopicsByConsumerRequest) },
	remoting.QuerySubscriptionByConsumer:     func() typedHeader { return new(remoting.QuerySubscriptionByConsumerRequest) },
	remoting.GetTopicConfig:                  func() typedHeader { return new(remoting.GetTopicConfigRequest) },
	remoting.GetSubscriptionGroupConfig:      func() typedHeader { return new(remoting.GetSubscriptionGroupRequest) },
	remoting.UpdateAndGetGroupForbidden:      func() typedHeader { return new(remoting.UpdateAndGetGroupForbiddenRequest) },
	remoting.RecallMessage:                   func() typedHeader { return new(remoting.RecallMessageRequest) },
	remoting.AuthCreateUser:                  func() typedHeader { return new(remoting.AuthUserRequest) },
	remoting.AuthUpdateUser:                  func() typedHeader { return new(remoting.AuthUserRequest) },
	remoting.AuthDeleteUser:                  func() typedHeader { return new(remoting.AuthUserRequest) },
	remoting.AuthGetUser:                     func() typedHeader { return new(remoting.AuthUserRequest) },
	remoting.AuthListUser:                    func() typedHeader { return new(remoting.AuthListUserRequest) },
	remoting.AuthCreateACL:                   func() typedHeader { return new(remoting.AuthACLRequest) },
	remoting.AuthUpdateACL:                   func() typedHeader { return new(remoting.AuthACLRequest) },
	remoting.AuthDeleteACL:                   func() typedHeader { return new(remoting.AuthACLRequest) },
	remoting.AuthGetACL:                      func() typedHeader { return new(remoting.AuthACLRequest) },
	remoting.AuthListACL:                     func() typedHeader { return new(remoting.AuthListACLRequest) },
	remoting.RegisterTopicInNamesrv:          func() typedHeader { return new(remoting.RegisterTopicRequest) },
	remoting.GetBrokerMemberGroup:            func() typedHeader { return new(remoting.BrokerMemberGroupRequest) },
	remoting.BrokerHeartbeat:                 func() typedHeader { return new(remoting.BrokerHeartbeatRequest) },
	remoting.PopMessage:                      func() typedHeader { return new(remoting.PopMessageRequest) },
	remoting.AckMessage:                      func() typedHeader { return new(remoting.AckMessageRequest) },
	remoting.ChangeMessageInvisibleTime:      func() typedHeader { return new(remoting.ChangeInvisibleTimeRequest) },
	remoting.PeekMessage:                     func() typedHeader { return new(remoting.PeekMessageRequest) },
	remoting.Notification:                    func() typedHeader { return new(remoting.NotificationRequest) },
	remoting.PollingInfo:                     func() typedHeader { return new(remoting.PollingInfoRequest) },
}

// responseHeaders make the header struct of the answers to a request code.
var responseHeaders = map[int32]func() typedHeader{
	remoting.SendMessage:                   func() typedHeader { return new(remoting.SendMessageResponse) },
	remoting.SendMessageV2:                 func() typedHeader { return new(remoting.SendMessageResponse) },
	remoting.SendBatchMessage:              func() typedHeader { return new(remoting.SendMessageResponse) },
	remoting.PullMessage:                   func() typedHeader { return new(remoting.PullMessageResponse) },
	remoting.QueryMessage:                  func() typedHeader { return new(remoting.QueryMessageResponse) },
	remoting.QueryConsumerOffset:           func() typedHeader { return new(remoting.QueryConsumerOffsetResponse) },
	remoting.SearchOffsetByTimestamp:       func() typedHeader { return new(remoting.SearchOffsetResponse) },
	remoting.GetMaxOffset:                  func() typedHeader { return new(remoting.GetMaxOffsetResponse) },
	remoting.GetMinOffset:                  func() typedHeader { return new(remoting.GetMinOffsetResponse) },
	remoting.GetEarliestMsgStoretime:       func() typedHeader { return new(remoting.GetEarliestMsgStoretimeResponse) },
	remoting.RegisterBroker:                func() typedHeader { return new(remoting.RegisterBrokerResponse) },
	remoting.QueryDataVersion:              func() typedHeader { return new(remoting.QueryDataVersionResponse) },
	remoting.GetKVConfig:                   func() typedHeader { return new(remoting.GetKVConfigResponse) },
	remoting.RecallMessage:                 func() typedHeader { return new(remoting.RecallMessageResponse) },
	remoting.GetAllTopicConfig:             func() typedHeader { return new(remoting.GetAllTopicConfigResponse) },
	remoting.GetAllSubscriptionGroupConfig: func() typedHeader { return new(remoting.GetAllSubscriptionGroupResponse) },
	remoting.PopMessage:                    func() typedHeader { return new(remoting.PopMessageResponse) },
	remoting.ChangeMessageInvisibleTime:    func() typedHeader { return new(remoting.ChangeInvisibleTimeResponse) },
	remoting.PeekMessage:                   func() typedHeader { return new(remoting.PopMessageResponse) },
	remoting.Notification:                  func() typedHeader { return new(remoting.NotificationResponse) },
	remoting.PollingInfo:                   func() typedHeader { return new(remoting.PollingInfoResponse) },
}

// untyped are the codes whose one field the handler reads itself, since the real broker has words of its own
// for what is wrong with it.
var untyped = map[int32]bool{remoting.ResetMasterFlushOffset: true, remoting.SwitchTimerEngine: true}

// Every recorded header reads into its struct, and what the struct writes reads the same and
// has the recorded values.
func TestHeaders_Golden(t *testing.T) {
	t.Parallel()
	seen := map[int32]bool{}
	for _, g := range goldenFrames(t) {
		var cmd remoting.Command
		if err := remoting.Decode(g.raw, &cmd); err != nil {
			t.Fatalf("%s:%d: %v", g.file, g.line, err)
		}
		newHeader := requestHeaders[cmd.Code]
		if g.Kind == "response" {
			if newHeader = responseHeaders[g.ReqCode]; cmd.Code != remoting.Success {
				continue
			}
		} else if newHeader == nil && known(cmd.Code) && !untyped[cmd.Code] && !onlyCommon(&cmd.Ext) {
			t.Errorf("%s:%d: no header of %s", g.file, g.line, remoting.RequestCodeName(cmd.Code))
		}
		if newHeader == nil {
			continue
		}
		seen[g.Code] = true
		roundTrip(t, g, &cmd.Ext, newHeader)
	}
	if len(seen) < 60 {
		t.Errorf("compared the headers of %d codes", len(seen))
	}
}

func roundTrip(t *testing.T, g *goldenFrame, fields *remoting.Fields, newHeader func() typedHeader) {
	t.Helper()
	first, second := newHeader(), newHeader()
	if err := first.Decode(fields); err != nil {
		if g.Peer != "raw" {
			t.Errorf("%s:%d: %v", g.file, g.line, err)
		}
		return
	}
	var ext remoting.ExtWriter
	first.Encode(&ext)
	var again remoting.Command
	if err := remoting.Decode(remoting.AppendRequest(nil, 1, 1, 0, &ext, nil), &again); err != nil {
		t.Fatalf("%s:%d: %v", g.file, g.line, err)
	}
	if err := second.Decode(&again.Ext); err != nil || !reflect.DeepEqual(first, second) {
		t.Errorf("%s:%d: %v\n got %+v\nwant %+v", g.file, g.line, err, second, first)
	}
	for _, f := range again.Ext.All() {
		if recorded, ok := fields.Get(string(f.Key)); ok && string(recorded) != string(f.Value) && g.Peer != "raw" {
			t.Errorf("%s:%d: %s = %q, recorded %q", g.file, g.line, f.Key, f.Value, recorded)
		}
	}
}

func known(code int32) bool {
	return remoting.RequestCodeName(code) != strconv.Itoa(int(code))
}

// onlyCommon tells whether every field is one that clients add to any request.
func onlyCommon(fields *remoting.Fields) bool {
	for _, f := range fields.All() {
		switch string(f.Key) {
		case "ReqT", "AccessKey", "Signature", "bname", "ns", "nsd", "lo":
		default:
			return false
		}
	}
	return true
}

// A header that lacks a required field is refused in the real server's words.
func TestHeaders_MissingField(t *testing.T) {
	t.Parallel()
	for code, want := range map[int32]string{
		remoting.SendMessageV2: "producerGroup", remoting.PullMessage: "consumerGroup", remoting.GetMaxOffset: "topic",
		remoting.ConsumerSendMsgBack: "offset", remoting.RegisterBroker: "brokerName", remoting.PopMessage: "consumerGroup",
	} {
		err := requestHeaders[code]().Decode(&remoting.Fields{})
		var known *remoting.Error
		if !errors.As(err, &known) || known.Code != remoting.SystemError || known.Remark != "the custom field <"+want+"> is null" {
			t.Errorf("%s: %v", remoting.RequestCodeName(code), err)
		}
	}
}

// Numbers that are none, or are too large for their field, are refused.
func TestHeaders_BadNumbers(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "x", "1.5", "0x10", "2147483648", "-2147483649", "99999999999999999999", "1 "} {
		for _, h := range []struct {
			key    string
			header typedHeader
			fields map[string]string
		}{
			{"e", new(sendV2), map[string]string{"a": "g", "b": "t", "c": "d", "d": "4", "f": "0", "g": "0", "h": "0"}},
			{"queueId", new(remoting.GetMaxOffsetRequest), map[string]string{"topic": "t"}},
		} {
			var fields remoting.Fields
			for k, v := range h.fields {
				fields.Set(k, v)
			}
			fields.Set(h.key, value)
			if err := h.header.Decode(&fields); err == nil {
				t.Errorf("%T accepted %q", h.header, value)
			}
		}
	}
}
