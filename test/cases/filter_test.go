package cases

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestTagsWithEqualHash_DoNotHoldUpTheOffset is case BR-30: "Aa" and "BB" have
// the same hash code. The broker may filter by hash, but has to pass the rest.
func TestTagsWithEqualHash_DoNotHoldUpTheOffset(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	for _, tag := range []string{"Aa", "BB", "", "C C"} {
		properties := ""
		if tag != "" {
			properties = wire.Properties("TAGS", tag)
		}
		c.MustSend(t, wire.Send{Topic: topic, Body: []byte("tag " + tag), Properties: properties})
	}
	c.Settle(t, topic, 0, 4)
	got := c.MustPull(t, wire.Pull{Group: group, Topic: topic, Subscription: "Aa"})
	wantCode(t, "pull of Aa", got.Frame, wire.Success)
	found := bodies(got.Messages)
	if !slices.Contains(found, "tag Aa") {
		t.Errorf("pulled %q, want the message with tag Aa", found)
	}
	for _, body := range found {
		if body != "tag Aa" && body != "tag BB" {
			t.Errorf("pulled %q, whose tag has another hash", body)
		}
	}
	if got.NextBeginOffset != 4 {
		t.Errorf("next offset %d, want 4: the messages that do not match are passed", got.NextBeginOffset)
	}
	got = c.MustPull(t, wire.Pull{Group: group, Topic: topic, Subscription: "nope"})
	wantCode(t, "pull of nope", got.Frame, wire.PullRetryImmediately)
	if got.NextBeginOffset != 4 {
		t.Errorf("next offset %d, want 4", got.NextBeginOffset)
	}
}

// TestClientOnOneOfTwoEqualHashes_SeesOnlyItsTag is case BR-30 with a real
// client, which compares the text of the tag and commits past the rest.
func TestClientOnOneOfTwoEqualHashes_SeesOnlyItsTag(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 1)
	for i := range 10 {
		for _, tag := range []string{"Aa", "BB", "C"} {
			c.MustSend(t, wire.Send{Topic: topic, Body: fmt.Appendf(nil, "%s %d", tag, i), Properties: wire.Properties("TAGS", tag)})
		}
	}
	seen := subscribe(t, group, topic, "Aa", "one")
	suite.Eventually(t, slow, "the offset passes all 30 messages", func() bool {
		return committed(t, c, group, topic, 1) == 30
	})
	want := make([]string, 10)
	for i := range want {
		want[i] = fmt.Sprintf("Aa %d", i)
	}
	if got := seen.sorted(); !slices.Equal(got, want) {
		t.Errorf("consumed %q, want %q", got, want)
	}
}

// TestMessagesOfOtherTags_DoNotHoldUpProgress is case BR-31.
func TestMessagesOfOtherTags_DoNotHoldUpProgress(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	const stored = 100
	for range stored {
		c.MustSend(t, wire.Send{Topic: topic, Body: []byte("a"), Properties: wire.Properties("TAGS", "A")})
	}
	c.Settle(t, topic, 0, stored)
	p := wire.Pull{Group: group, Topic: topic, Subscription: "B"}
	for p.Offset < stored {
		got := c.MustPull(t, p)
		wantCode(t, "pull", got.Frame, wire.PullRetryImmediately)
		if got.NextBeginOffset <= p.Offset {
			t.Fatalf("a pull at %d leads to %d: no progress", p.Offset, got.NextBeginOffset)
		}
		p.Offset = got.NextBeginOffset
	}
	if p.Offset != stored {
		t.Errorf("next offset %d, want %d", p.Offset, stored)
	}
	seen := subscribe(t, group, topic, "B", "one")
	suite.Eventually(t, slow, "a client commits 100", func() bool {
		return committed(t, c, group, topic, 1) == stored
	})
	if got := seen.sorted(); len(got) != 0 {
		t.Errorf("consumed %q, want nothing", got)
	}
}

// TestTagsBeyondASCII_AreFound is case BR-32: the hash is that of Java's
// String, over UTF-16 units and with 32-bit overflow.
func TestTagsBeyondASCII_AreFound(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	tags := map[string]string{
		"CJK":      "标签",
		"emoji":    "🚀🛰",
		"200chars": strings.Repeat("long-tag-", 22) + "xy",
	}
	for _, tag := range tags {
		c.MustSend(t, wire.Send{Topic: topic, Body: []byte(tag), Properties: wire.Properties("TAGS", tag)})
	}
	c.Settle(t, topic, 0, int64(len(tags)))
	for name, tag := range tags {
		got := c.MustPull(t, wire.Pull{Group: suite.Name(t, name), Topic: topic, Subscription: tag})
		wantCode(t, "pull of "+name, got.Frame, wire.Success)
		if found := bodies(got.Messages); !slices.Equal(found, []string{tag}) {
			t.Errorf("%s: pulled %q, want exactly its message", name, found)
		}
	}
}

// TestMembersWithDifferentTags_GetOnlyTheirOwn is case BR-35: the newest
// subscription is the group's, so a member may miss messages, but it never gets
// one that it did not ask for, and nothing hangs.
func TestMembersWithDifferentTags_GetOnlyTheirOwn(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	const queues, each = 4, 100
	c.MustCreateTopic(t, topic, queues)
	members := map[string]*inbox{
		"a": subscribe(t, group, topic, "a", "member-a"),
		"b": subscribe(t, group, topic, "b", "member-b"),
	}
	for i := range each {
		for tag := range members {
			c.MustSend(t, wire.Send{
				Topic: topic, QueueID: i % queues, Body: fmt.Appendf(nil, "%s %d", tag, i), Properties: wire.Properties("TAGS", tag),
			})
		}
	}
	suite.Eventually(t, slow, "the group passes all 200 messages", func() bool {
		return committed(t, c, group, topic, queues) == 2*each
	})
	total := 0
	for tag, member := range members {
		got := member.sorted()
		total += len(got)
		for _, body := range got {
			if !strings.HasPrefix(body, tag+" ") {
				t.Errorf("the member on %s consumed %q", tag, body)
			}
		}
	}
	if total > 2*each {
		t.Errorf("%d messages consumed, want at most %d", total, 2*each)
	}
}

// inbox collects the bodies that a client consumed.
type inbox struct {
	mu     sync.Mutex
	bodies []string
}

func (b *inbox) sorted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(slices.Values(b.bodies))
}

// subscribe starts a push consumer of the Go client. A group with several
// members in one process needs a name for each.
func subscribe(t *testing.T, group, topic, tags, member string) *inbox {
	t.Helper()
	return subscribeBy(t, group, topic, consumer.MessageSelector{Type: consumer.TAG, Expression: tags}, member)
}

func subscribeBy(t *testing.T, group, topic string, selector consumer.MessageSelector, member string) *inbox {
	t.Helper()
	wire.Introduce(t, suite.Server().BrokerAddr, group, topic)
	box := new(inbox)
	push := goclient.Push(t, topic, selector, func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		box.mu.Lock()
		defer box.mu.Unlock()
		for _, m := range messages {
			box.bodies = append(box.bodies, string(m.Body))
		}
		return consumer.ConsumeSuccess, nil
	},
		consumer.WithNameServer(primitive.NamesrvAddr{suite.Server().NameServerAddr}),
		consumer.WithGroupName(group),
		consumer.WithInstance(group+"-"+member),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
	)
	t.Cleanup(func() {
		if err := push.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return box
}

// committed is the sum of a group's offsets on the first n queues of a topic.
func committed(t *testing.T, c *wire.Conn, group, topic string, n int) (sum int64) {
	t.Helper()
	for queue := range n {
		answer := c.QueryOffset(t, group, topic, queue, nil)
		if answer.Code == wire.Success {
			sum += answer.Int64(t, "offset")
		}
	}
	return sum
}
