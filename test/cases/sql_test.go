package cases

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

const sql92 = "SQL92"

// TestSQLExpressions_SelectAsMeasured is case BR-33: what is NULL, what is a number, and what IN,
// BETWEEN and the rest make of it.
func TestSQLExpressions_SelectAsMeasured(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	as := []string{"1", "10", "abc", "3.5", "9223372036854775808", "it's"}
	for _, a := range as {
		c.MustSend(t, wire.Send{Topic: topic, Body: []byte(a), Properties: wire.Properties("a", a)})
	}
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("b"), Properties: wire.Properties("b", "x")})
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("c"), Properties: wire.Properties("c", "true")})
	c.Settle(t, topic, 0, 8)
	all := append(slices.Clone(as), "b", "c")
	for expression, want := range map[string][]string{
		"a > 2":                 {"10"},
		"a = '10'":              {"10"},
		"a = 10":                {"10"},
		"a BETWEEN 1 AND 5":     {"1"},
		"a NOT BETWEEN 1 AND 5": {"10"},
		"a IS NULL":             {"b", "c"},
		"a IS NOT NULL":         as,
		"a IN ('abc','1')":      {"1", "abc"},
		"a NOT IN ('abc')":      {"1", "10", "3.5", "9223372036854775808", "it's"},
		"a <> 1":                {"10"},
		"a <> '1'":              as[1:],
		"NOT (a > 2)":           {"1"},
		"a > 2 OR b = 'x'":      {"10", "b"},
		"b = 'x' or a > 2":      {"10", "b"},
		"c = TRUE":              {"c"},
		"a = 'it''s'":           {"it's"},
		"a CONTAINS 'b'":        {"abc"},
		"a STARTSWITH 'ab'":     {"abc"},
		"a NOT ENDSWITH '0'":    {"1", "abc", "3.5", "9223372036854775808", "it's"},
		"1 = 1 AND TRUE":        all,
		"a = 1.0":               {"1"},
		"a > 3.0":               {"10", "3.5", "9223372036854775808"},
		"a = b":                 {"c"},
		"b > 1":                 nil,
		"a + 1 > 3":             nil,
		"a LIKE '%b%'":          nil,
		"NOT a = 1":             nil,
	} {
		got := c.MustPull(t, wire.Pull{Group: suite.Name(t, "group"), Topic: topic, Subscription: expression, ExpressionType: sql92})
		code := wire.Success
		if want == nil {
			code = wire.PullRetryImmediately
		}
		wantCode(t, expression, got.Frame, code)
		if found := bodies(got.Messages); !slices.Equal(found, want) {
			t.Errorf("%s: pulled %q, want %q", expression, found, want)
		}
		if got.NextBeginOffset != 8 {
			t.Errorf("%s: next offset %d, want 8: what does not match is passed", expression, got.NextBeginOffset)
		}
	}
}

// brokenSQL are texts that are no expressions.
var brokenSQL = []string{"a >", "a BETWEEN 5 AND 1", "a = 'open", "a > 'x'", "a IN (1)", "5", "a = NULL"}

// TestBrokenSQL_IsRefused is the end of case BR-33.
func TestBrokenSQL_IsRefused(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("x"), Properties: wire.Properties("a", "1")})
	c.Settle(t, topic, 0, 1)
	pull := func(expression, expressionType string) wire.Pulled {
		return c.MustPull(t, wire.Pull{Group: group, Topic: topic, Subscription: expression, ExpressionType: expressionType})
	}
	wantCode(t, "pull with an empty expression", pull("", sql92).Frame, wire.SubscriptionBroken)
	refused := true
	var transcript []string
	for _, expression := range brokenSQL {
		got := pull(expression, sql92)
		refused = refused && got.Code == wire.SubscriptionBroken && strings.Contains(got.Remark, "no SQL92 expression")
		transcript = append(transcript, got.String())
	}
	unknown := pull("a", "REGEX")
	refused = refused && unknown.Code == wire.SubscriptionBroken
	suite.Differs(t, "cases/broken-sql", refused, strings.Join(append(transcript, unknown.String()), "\n"))
}

// TestSQLWithoutEnd is an expression of 256 KiB.
func TestSQLWithoutEnd(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("x"), Properties: wire.Properties("a", "1")})
	c.Settle(t, topic, 0, 1)
	expression := "a=1" + strings.Repeat(" OR a=1", 256<<10/len(" OR a=1"))
	answer := checkClient(t, c, topic, expression, sql92)
	got := c.MustPull(t, wire.Pull{Group: suite.Name(t, "group"), Topic: topic, Subscription: expression, ExpressionType: sql92})
	refused := answer.Code == wire.SubscriptionBroken && got.Code == wire.SubscriptionBroken
	suite.Differs(t, "cases/sql-bounded", refused, fmt.Sprintf("%v\n%v", answer, got.Frame))
}

// TestBrokenSQL_IsToldAtTheStart looks at the question of a client that starts (46), and at a pull
// whose subscription a heartbeat has announced.
func TestBrokenSQL_IsToldAtTheStart(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	for _, expression := range brokenSQL {
		wantCode(t, "check of "+expression, checkClient(t, c, topic, expression, sql92), wire.SubscriptionBroken)
	}
	wantCode(t, "check of an unknown type", checkClient(t, c, topic, "a", "REGEX"), wire.SubscriptionBroken)
	wantCode(t, "check of an expression", checkClient(t, c, topic, "a > 1", sql92), wire.Success)
	wantCode(t, "check of tags", checkClient(t, c, topic, "a || b", "TAG"), wire.Success)

	group := suite.Name(t, "group")
	c.Heartbeat(t, wire.Member{ClientID: group, Group: group, Subscriptions: map[string]string{topic: "a >"}, ExpressionType: sql92})
	answer := c.Call(t, wire.PullMessage, map[string]string{
		"consumerGroup": group, "topic": topic, "queueId": "0", "queueOffset": "0", "maxMsgNums": "32", "sysFlag": "0",
		"commitOffset": "0", "suspendTimeoutMillis": "0", "subVersion": "0",
	}, nil)
	wantCode(t, "pull by a broken subscription", answer, wire.FilterDataNotExist)
}

// checkClient asks whether a subscription can be served (46).
func checkClient(t *testing.T, c *wire.Conn, topic, expression, expressionType string) *wire.Frame {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"clientId": "me", "group": "g", "namespace": "", "subscriptionData": map[string]any{
			"topic": topic, "subString": expression, "expressionType": expressionType, "tagsSet": []any{}, "codeSet": []any{},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.Call(t, wire.CheckClientConfig, nil, body)
}

// TestHeldPullBySQL_WakesForWhatItWants holds a pull while messages come that it does not want.
func TestHeldPullBySQL_WakesForWhatItWants(t *testing.T) {
	t.Parallel()
	producer := dialBroker(t)
	topic := suite.Name(t, "topic")
	producer.MustCreateTopic(t, topic, 1)
	p := wire.Pull{Group: suite.Name(t, "group"), Topic: topic, Subscription: "a > 5", ExpressionType: sql92, Suspend: 20 * time.Second}
	found := make(chan wire.Pulled, 1)
	go func() {
		waiting, err := wire.Open(suite.Server().BrokerAddr)
		if err != nil {
			t.Error(err)
			close(found)
			return
		}
		defer waiting.Close()
		// A pull that comes later than what is not wanted is told to go on behind it.
		got := wire.Pulled{Frame: &wire.Frame{Code: wire.PullRetryImmediately}}
		for err == nil && got.Code == wire.PullRetryImmediately {
			p.Offset = got.NextBeginOffset
			got, err = waiting.Pull(t.Context(), p)
		}
		if err != nil {
			t.Error(err)
		}
		found <- got
	}()
	for _, a := range []string{"1", "5", "abc", ""} {
		producer.MustSend(t, wire.Send{Topic: topic, Body: []byte(a + "."), Properties: wire.Properties("b", "x", "a", a)})
	}
	producer.MustSend(t, wire.Send{Topic: topic, Body: []byte("6"), Properties: wire.Properties("a", "6")})
	got := <-found
	if got.Frame == nil {
		t.Fatal("no answer")
	}
	wantCode(t, "held pull", got.Frame, wire.Success)
	if found := bodies(got.Messages); !slices.Equal(found, []string{"6"}) || got.NextBeginOffset != 5 {
		t.Errorf("pulled %q and goes on at %d, want 6 and 5", found, got.NextBeginOffset)
	}
}

// TestGoClientBySQL consumes what lies there and what arrives, and commits past the rest.
func TestGoClientBySQL(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 1)
	send := func(from, to int) {
		for i := from; i < to; i++ {
			n := strconv.Itoa(i)
			c.MustSend(t, wire.Send{Topic: topic, Body: []byte(n), Properties: wire.Properties("n", n, "kind", []string{"even", "odd"}[i%2])})
		}
	}
	send(0, 50)
	seen := subscribeBy(t, group, topic, consumer.MessageSelector{
		Type: consumer.SQL92, Expression: "n BETWEEN 10 AND 80 AND kind = 'odd' AND missing IS NULL",
	}, "one")
	var want []string
	for n := 11; n <= 79; n += 2 {
		want = append(want, strconv.Itoa(n))
	}
	suite.Eventually(t, slow, "what lies there is consumed", func() bool { return len(seen.sorted()) == 20 })
	send(50, 100)
	suite.Eventually(t, slow, "the offset passes all 100 messages", func() bool {
		return committed(t, c, group, topic, 1) == 100
	})
	if got := seen.sorted(); !slices.Equal(got, want) {
		t.Errorf("consumed %q, want %q", got, want)
	}
}

const switchedOff = "The broker does not support consumer to filter message by SQL92"

// TestSQLSwitchedOff is case BR-34.
func TestSQLSwitchedOff(t *testing.T) {
	t.Parallel()
	c := wire.Dial(t, peer.StartTarget(t, map[string]string{"enablePropertyFilter": "false"}).BrokerAddr)
	pulled, checked := askForSQL(t, c)
	for what, answer := range map[string]*wire.Frame{"pull": pulled, "check": checked} {
		wantCode(t, what, answer, wire.SystemError)
		if answer.Remark != switchedOff {
			t.Errorf("%s: remark %q, want %q", what, answer.Remark, switchedOff)
		}
	}
	wantCode(t, "check of tags", checkClient(t, c, "T", "a", "TAG"), wire.Success)
}

// TestSQLWithoutConfiguration asks a broker that is not told whether to filter by SQL92.
func TestSQLWithoutConfiguration(t *testing.T) {
	t.Parallel()
	pulled, checked := askForSQL(t, wire.Dial(t, peer.StartTarget(t, nil).BrokerAddr))
	suite.Differs(t, "cases/sql-by-default", pulled.Code == wire.PullNotFound && checked.Code == wire.Success, checked.String())
}

// askForSQL pulls from an empty queue by an expression, and asks whether it could.
func askForSQL(t *testing.T, c *wire.Conn) (pulled, checked *wire.Frame) {
	t.Helper()
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 1)
	got := c.MustPull(t, wire.Pull{Group: group, Topic: topic, Subscription: "a > 1", ExpressionType: sql92})
	return got.Frame, checkClient(t, c, topic, "a > 1", sql92)
}
