package cases

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// maxBody is the default maxMessageSize.
const maxBody = 4 << 20

// TestBodySizeLimit_IsInclusive is case BR-42.
func TestBodySizeLimit_IsInclusive(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	body := bytes.Repeat([]byte("0123456789abcdef"), maxBody/16)
	c.MustSend(t, wire.Send{Topic: topic, Body: body})
	answer := c.Send(t, wire.Send{Topic: topic, Body: append(body, 'x')})
	wantCode(t, "one byte more", answer, wire.MessageIllegal)
	if !strings.Contains(answer.Remark, "4194304B") {
		t.Errorf("remark %q, want it to name the limit 4194304B", answer.Remark)
	}
	c.Settle(t, topic, 0, 1)
	got := c.PullAll(t, wire.Pull{Group: suite.Name(t, "group"), Topic: topic})
	if len(got) != 1 || !bytes.Equal(got[0].Body, body) {
		t.Errorf("pulled %d messages, want the one of %d bytes unchanged", len(got), maxBody)
	}
}

// TestPropertiesTooLong_AreRefused is case BR-43: a length above 32767 became
// negative and broke the record.
func TestPropertiesTooLong_AreRefused(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	ofLength := func(n int) string {
		return wire.Properties("pad", strings.Repeat("p", n-len(wire.Properties("pad", ""))))
	}
	for _, tc := range []struct{ length, code int }{
		{32000, wire.Success}, {32768, wire.MessageIllegal}, {40000, wire.MessageIllegal},
	} {
		answer := c.Send(t, wire.Send{Topic: topic, Body: fmt.Append(nil, tc.length), Properties: ofLength(tc.length)})
		wantCode(t, fmt.Sprintf("properties of %d", tc.length), answer, tc.code)
	}
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("next"), Properties: wire.Properties("k", "v")})
	c.Settle(t, topic, 0, 2)
	got := c.PullAll(t, wire.Pull{Group: suite.Name(t, "group"), Topic: topic})
	if found := strings.Join(bodies(got), " "); found != "32000 next" {
		t.Fatalf("stored %q, want \"32000 next\"", found)
	}
	if !strings.Contains(got[0].RawProperties, ofLength(32000)) || got[1].Properties["k"] != "v" {
		t.Error("the properties did not come back unchanged")
	}
}

// TestEmptyBody_IsRefusedPlainly is case BR-44.
func TestEmptyBody_IsRefusedPlainly(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	answer := c.Send(t, wire.Send{Topic: topic})
	if answer.Code == wire.Success {
		t.Fatalf("accepted: %v", answer)
	}
	suite.Differs(t, "cases/empty-body", answer.Code == wire.MessageIllegal && !internalText(answer.Remark), answer.String())
	if sent := c.MustSend(t, wire.Send{Topic: topic, Body: []byte("next")}); sent.QueueOffset != 0 {
		t.Errorf("the next message has offset %d, want 0: nothing was stored", sent.QueueOffset)
	}
}

// internalText recognises a remark that shows a server's insides instead of a reason.
func internalText(remark string) bool {
	for _, mark := range []string{"Exception", "java.", "panic", "runtime error", "goroutine"} {
		if strings.Contains(remark, mark) {
			return true
		}
	}
	return remark == ""
}

// TestProperties_ComeBackUnchanged is case BR-45: unicode, control characters
// and quotes in values.
func TestProperties_ComeBackUnchanged(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	want := map[string]string{
		"KEYS": "订单-1 🚀",
		"TAGS": "标签",
		"名":    "值=;,|\t\n\"quotes\" 'single' back\\slash",
	}
	sent := c.MustSend(t, wire.Send{Topic: topic, Body: []byte("正文 🛰"), Properties: wire.Properties(
		"KEYS", want["KEYS"], "TAGS", want["TAGS"], "名", want["名"], "empty", "")})
	m, answer := c.View(t, sent.CommitLogOffset)
	wantCode(t, "view", answer, wire.Success)
	for name, value := range want {
		if m.Properties[name] != value {
			t.Errorf("property %s is %q, want %q", name, m.Properties[name], value)
		}
	}
	if value, kept := m.Properties["empty"]; kept {
		t.Errorf("the property without a value came back as %q, want it dropped", value)
	}
	if string(m.Body) != "正文 🛰" {
		t.Errorf("body %q", m.Body)
	}
}

// TestSeparatorsInsideProperties_DoNotTear is case BR-45: split at 0x02, then at
// the first 0x01, drop what has no 0x01.
func TestSeparatorsInsideProperties_DoNotTear(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	raw := "KEYS\x01a\x02broken\x02=\x01x\x01y\x02z\x01last"
	sent := c.MustSend(t, wire.Send{Topic: suite.Name(t, "topic"), Body: []byte("x"), Properties: raw})
	m, answer := c.View(t, sent.CommitLogOffset)
	wantCode(t, "view", answer, wire.Success)
	for name, value := range map[string]string{"KEYS": "a", "=": "x\x01y", "z": "last"} {
		if m.Properties[name] != value {
			t.Errorf("property %q is %q, want %q", name, m.Properties[name], value)
		}
	}
	if value, kept := m.Properties["broken"]; kept {
		t.Errorf("the item without a separator came back as %q", value)
	}
}

// TestZerosInsideProperties_AreRefused: after a power cut they would tell that a record was not written.
func TestZerosInsideProperties_AreRefused(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	answer := c.Send(t, wire.Send{Topic: topic, Body: []byte("x"), Properties: wire.Properties("KEYS", "a\x00b")})
	suite.Differs(t, "cases/properties-without-nul", answer.Code == wire.MessageIllegal, answer.String())
}

// TestMessageID_LeadsToTheMessage is case BR-48.
func TestMessageID_LeadsToTheMessage(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	sent := c.MustSend(t, wire.Send{Topic: suite.Name(t, "topic"), Body: []byte("by id")})
	host, offset, err := wire.ParseMsgID(sent.MsgID)
	if err != nil {
		t.Fatal(err)
	}
	if host.String() != suite.Server().BrokerAddr {
		t.Errorf("the id names %v, want %s", host, suite.Server().BrokerAddr)
	}
	m, answer := c.View(t, offset)
	wantCode(t, "view", answer, wire.Success)
	if string(m.Body) != "by id" || m.CommitLogOffset != offset || m.StoreHost != host {
		t.Errorf("got %q at %d of %v, want the message of the id %s", m.Body, m.CommitLogOffset, m.StoreHost, sent.MsgID)
	}
	const beyond = 1 << 50
	_, answer = c.View(t, beyond)
	wantCode(t, "view beyond the end", answer, wire.SystemError)
	if want := fmt.Sprintf("can not find message by the offset, %d", int64(beyond)); !strings.HasPrefix(answer.Remark, want) {
		t.Errorf("remark %q, want it to begin with %q", answer.Remark, want)
	}
}

// TestMessageIDInsideARecord_IsNotFound is case BR-48: an offset that is no
// message's must not be answered with the bytes that happen to be there.
func TestMessageIDInsideARecord_IsNotFound(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	sent := c.MustSend(t, wire.Send{Topic: suite.Name(t, "topic"), Body: []byte("by id")})
	offset := strconv.FormatInt(sent.CommitLogOffset+7, 10)
	answer := c.Call(t, wire.ViewMessageByID, map[string]string{"offset": offset}, nil)
	if answer.Code == wire.Success {
		t.Errorf("answered with %d bytes", len(answer.Body))
	}
	suite.Differs(t, "cases/view-inside-a-record",
		answer.Code == wire.SystemError && answer.Remark == "can not find message by the offset, "+offset, answer.String())
}

// TestQueryWithWrongFieldNames_IsAnError is case BR-49: an empty result hides
// that the client uses the wrong names.
func TestQueryWithWrongFieldNames_IsAnError(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("x"), Properties: wire.Properties("KEYS", "k")})
	answer := c.Call(t, wire.QueryMessage, map[string]string{
		"topic": topic, "key": "k", "maxNum": "32", "begin": "0", "end": "9999999999999",
	}, nil)
	wantCode(t, "query", answer, wire.SystemError)
	suite.Differs(t, "cases/query-with-wrong-field-names",
		strings.Contains(answer.Remark, "beginTimestamp") && !internalText(answer.Remark), answer.String())
}

// TestCompressedBody_IsNotTouched is case BR-66: the compression bits and the
// bytes go through as they are, even when they are no compressed data at all.
func TestCompressedBody_IsNotTouched(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	group := suite.Name(t, "group")
	body := []byte{0, 1, 2, 0xFF, 0xFE, 'n', 'o', 't', ' ', 'z', 'i', 'p', 0}
	for i, flag := range []int{0x201, 0x101, 0x301, 0x1} {
		sent := c.MustSend(t, wire.Send{Topic: topic, SysFlag: flag, Body: append(body, byte(i))})
		got := c.MustPull(t, wire.Pull{Group: group, Topic: topic, Offset: sent.QueueOffset, Suspend: wire.Timeout})
		if len(got.Messages) != 1 {
			t.Fatalf("sysFlag %#x: pulled %v", flag, got.Frame)
		}
		m := got.Messages[0]
		if int(m.SysFlag) != flag || !bytes.Equal(m.Body, append(body, byte(i))) {
			t.Errorf("came back with sysFlag %#x and body %x, want %#x and %x", m.SysFlag, m.Body, flag, append(body, byte(i)))
		}
	}
}

// TestUnknownRequestCode_IsAnswered is case BR-60: codes that do not fit the
// 16 bits of the binary header arrive as others.
func TestUnknownRequestCode_IsAnswered(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	ctx, cancel := context.WithTimeout(t.Context(), wire.Timeout)
	defer cancel()
	for _, code := range []int{3442, 9999} {
		want := fmt.Sprintf(" request type %d not supported", code)
		for name, send := range map[string]func(context.Context, int, map[string]string, []byte) (*wire.Frame, error){
			"JSON": c.Do, "binary": c.DoBinary,
		} {
			answer, err := send(ctx, code, map[string]string{"topic": "x"}, []byte("y"))
			if err != nil {
				t.Fatalf("%d in %s: %v", code, name, err)
			}
			wantCode(t, name, answer, wire.NotSupported)
			if answer.Remark != want {
				t.Errorf("%s: remark %q, want %q", name, answer.Remark, want)
			}
		}
	}
	// 200050 (pop) cut to 16 bits is 3442; the connection must go on.
	answer, err := c.DoBinary(ctx, 200050, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, "200050 in a binary header", answer, wire.NotSupported)
	if n := c.MaxOffset(t, suite.Name(t, "topic"), 0); n != 0 {
		t.Errorf("max offset of an unknown topic is %d, want 0", n)
	}
}

// TestIPv6BrokerAddress_FitsMessagesAndIDs is case BR-71.
func TestIPv6BrokerAddress_FitsMessagesAndIDs(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, map[string]string{"brokerIP1": "::1"})
	c := wire.Dial(t, target.BrokerAddr)
	topic := suite.Name(t, "topic")
	sent := c.MustSend(t, wire.Send{Topic: topic, Body: []byte("v6")})
	if len(sent.MsgID) != 56 {
		t.Errorf("message id %q has %d digits, want 56", sent.MsgID, len(sent.MsgID))
	}
	host, offset, err := wire.ParseMsgID(sent.MsgID)
	if err != nil {
		t.Fatal(err)
	}
	if !host.Addr().IsLoopback() || !host.Addr().Is6() {
		t.Errorf("the id names %v, want ::1", host)
	}
	viewed, answer := c.View(t, offset)
	wantCode(t, "view", answer, wire.Success)
	got := c.MustPull(t, wire.Pull{Group: suite.Name(t, "group"), Topic: topic, Suspend: wire.Timeout})
	if len(got.Messages) != 1 {
		t.Fatalf("pulled %v", got.Frame)
	}
	for what, m := range map[string]wire.Message{"view": viewed, "pull": got.Messages[0]} {
		if string(m.Body) != "v6" || m.SysFlag&wire.SysFlagStoreV6 == 0 || m.StoreHost != host {
			t.Errorf("%s: body %q, sysFlag %#x, store host %v; want the v6 flag and %v", what, m.Body, m.SysFlag, m.StoreHost, host)
		}
	}
}
