package cases

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestQueryByKey is case BR-65: messages are found by each of their keys, by their unique key
// and by their tags; nothing found is code 22, whose header is empty.
func TestQueryByKey(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("first"),
		Properties: wire.Properties("KEYS", "order-1 customer-7", "TAGS", "paid", "UNIQ_KEY", "7F000001000100000000000000000001")})
	last := c.MustSend(t, wire.Send{Topic: topic, Body: []byte("second"),
		Properties: wire.Properties("KEYS", "order-2 customer-7", "TAGS", "paid", "UNIQ_KEY", "7F000001000100000000000000000002")})
	found := func(q wire.Query) string {
		messages, answer := c.Query(t, q)
		if len(messages) == 0 {
			return strconv.Itoa(answer.Code)
		}
		return strings.Join(bodies(messages), " ")
	}
	// The real broker builds its index a little later.
	suite.Eventually(t, wire.Timeout, "the last message is found", func() bool {
		return found(wire.Query{Topic: topic, Key: "order-2"}) == "second"
	})
	for _, tc := range []struct {
		what string
		q    wire.Query
		want string
	}{
		{"without index type", wire.Query{Key: "order-1"}, "first"},
		{"index type K", wire.Query{Key: "order-1", IndexType: "K"}, "first"},
		{"the second of its keys, oldest first", wire.Query{Key: "customer-7", IndexType: "K"}, "first second"},
		{"the newest only", wire.Query{Key: "customer-7", MaxNum: 1}, "second"},
		{"unique key", wire.Query{Key: "7F000001000100000000000000000002", IndexType: "U", Unique: "true"}, "second"},
		{"unique key as a key", wire.Query{Key: "7F000001000100000000000000000001", Unique: "false"}, "first"},
		{"tags", wire.Query{Key: "paid", IndexType: "T"}, "first second"},
		{"tags are no key", wire.Query{Key: "paid"}, "22"},
		{"a key is no tag", wire.Query{Key: "order-1", IndexType: "T"}, "22"},
		{"half a key", wire.Query{Key: "order"}, "22"},
		{"both keys", wire.Query{Key: "order-1 customer-7"}, "22"},
		{"unknown index type", wire.Query{Key: "order-1", IndexType: "X"}, "first"},
		{"before the first", wire.Query{Key: "order-1", End: 1}, "22"},
		{"in the far future", wire.Query{Key: "order-1", Begin: 4102444800000}, "22"},
		{"another topic", wire.Query{Topic: topic + "x", Key: "order-1"}, "22"},
	} {
		if tc.q.Topic == "" {
			tc.q.Topic = topic
		}
		if got := found(tc.q); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.what, got, tc.want)
		}
	}
	_, answer := c.Query(t, wire.Query{Topic: topic, Key: "none-such"})
	wantCode(t, "absent key", answer, wire.QueryNotFound)
	const remark = "can not find message, maybe time range not correct"
	if answer.Remark != remark || answer.Int64(t, "indexLastUpdateTimestamp") != 0 || answer.Int64(t, "indexLastUpdatePhyoffset") != 0 {
		t.Errorf("absent key: %v, want %q and zeros", answer, remark)
	}
	messages, answer := c.Query(t, wire.Query{Topic: topic, Key: "order-2"})
	if at := answer.Int64(t, "indexLastUpdatePhyoffset"); at < last.CommitLogOffset {
		t.Errorf("the index ends at %d, before the message at %d", at, last.CommitLogOffset)
	}
	if at := answer.Int64(t, "indexLastUpdateTimestamp"); at < messages[0].StoreTimestamp {
		t.Errorf("the index ends at %d, before the message stored at %d", at, messages[0].StoreTimestamp)
	}
}

// TestQueryByKey_IsBounded asks for more than one answer may hold: the newest come, up to
// maxMsgsNumBatch, and up to defaultQueryMaxNum for a unique key, whatever was asked for.
func TestQueryByKey_IsBounded(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	const n = 70
	var want []string
	for i := range n {
		body := fmt.Sprint("m", i)
		c.MustSend(t, wire.Send{Topic: topic, Body: []byte(body), Properties: wire.Properties("KEYS", "same", "UNIQ_KEY", "one-id")})
		want = append(want, body)
	}
	suite.Eventually(t, wire.Timeout, "the last message is found", func() bool {
		messages, _ := c.Query(t, wire.Query{Topic: topic, Key: "same", MaxNum: 1})
		return slices.Equal(bodies(messages), want[n-1:])
	})
	for _, tc := range []struct {
		q    wire.Query
		want int
	}{
		{wire.Query{Key: "same", MaxNum: 1000}, 64},
		{wire.Query{Key: "same", MaxNum: 5}, 5},
		{wire.Query{Key: "one-id", MaxNum: 1000, IndexType: "U", Unique: "true"}, 32},
		{wire.Query{Key: "one-id", MaxNum: 1, Unique: "true"}, 32},
		{wire.Query{Key: "one-id", MaxNum: 1, IndexType: "U"}, 1},
	} {
		tc.q.Topic = topic
		messages, answer := c.Query(t, tc.q)
		if got := bodies(messages); !slices.Equal(got, want[n-tc.want:]) {
			t.Errorf("%+v: %v %v, want the newest %d", tc.q, answer, got, tc.want)
		}
	}
}

// TestQueryByKey_OfABatch finds each message of a batch.
func TestQueryByKey_OfABatch(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	var items []wire.BatchItem
	for i := range 5 {
		items = append(items, wire.BatchItem{Body: []byte(fmt.Sprint("b", i)), Properties: wire.Properties("KEYS", fmt.Sprint("batch-", i))})
	}
	wantCode(t, "batch", c.SendBatch(t, wire.Send{Topic: topic}, items...), wire.Success)
	for i := range 5 {
		suite.Eventually(t, wire.Timeout, fmt.Sprintf("message %d of the batch is found", i), func() bool {
			messages, _ := c.Query(t, wire.Query{Topic: topic, Key: fmt.Sprint("batch-", i)})
			return slices.Equal(bodies(messages), []string{fmt.Sprint("b", i)})
		})
	}
}

// TestQueryByKey_OfADelayedMessage finds it where it is stored: in the topic of the levels
// until it is delivered.
func TestQueryByKey_OfADelayedMessage(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	later, soon := suite.Name(t, "later"), suite.Name(t, "soon")
	found := func(topic, key string) int {
		messages, _ := c.Query(t, wire.Query{Topic: topic, Key: key})
		return len(messages)
	}
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("in 2 h"), Properties: wire.Properties("KEYS", later, "DELAY", "18")})
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("in 1 s"), Properties: wire.Properties("KEYS", soon, "DELAY", "1")})
	suite.Eventually(t, wire.Timeout, "both are found with the levels", func() bool {
		return found(wire.ScheduleTopic, later) == 1 && found(wire.ScheduleTopic, soon) == 1
	})
	suite.Eventually(t, wire.Timeout, "one is delivered", func() bool { return found(topic, soon) == 1 })
	if n := found(topic, later); n != 0 {
		t.Errorf("found %d times in its topic before it was delivered", n)
	}
}

// TestQueryByKey_OfAnotherKeyWithItsHash asks for one of two keys that have the same hash.
func TestQueryByKey_OfAnotherKeyWithItsHash(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("right"), Properties: wire.Properties("KEYS", "AaAa")})
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("foreign"), Properties: wire.Properties("KEYS", "BBBB")})
	suite.Eventually(t, wire.Timeout, "both are found", func() bool {
		messages, _ := c.Query(t, wire.Query{Topic: topic, Key: "BBBB"})
		return slices.Contains(bodies(messages), "foreign")
	})
	messages, _ := c.Query(t, wire.Query{Topic: topic, Key: "AaAa"})
	got := strings.Join(bodies(messages), " ")
	suite.Differs(t, "cases/query-same-hash", got == "right", got)
}

// TestQueryByKey_GivenTwice has a message with one key twice.
func TestQueryByKey_GivenTwice(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("x"), Properties: wire.Properties("KEYS", "twice twice")})
	var got []wire.Message
	suite.Eventually(t, wire.Timeout, "it is found", func() bool {
		got, _ = c.Query(t, wire.Query{Topic: topic, Key: "twice"})
		return len(got) > 0
	})
	suite.Differs(t, "cases/query-key-given-twice", len(got) == 1, fmt.Sprintf("%d messages", len(got)))
}
