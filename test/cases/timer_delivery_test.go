package cases

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// ahead is a time that a test has before a message is due: the real broker takes as long to start.
func ahead(ours time.Duration) time.Duration {
	if peer.TargetKind() == peer.Real {
		return max(ours, 45*time.Second)
	}
	return ours
}

// awaitStored waits until a queue has so many messages and returns them.
func awaitStored(t *testing.T, c *wire.Conn, topic string, queueID int, n int64) []wire.Message {
	t.Helper()
	suite.Eventually(t, slow, fmt.Sprintf("%d messages in %s", n, topic), func() bool { return c.MaxOffset(t, topic, queueID) >= n })
	return c.PullAll(t, wire.Pull{Group: suite.Name(t, "group"), Topic: topic, QueueID: queueID})
}

// TestKillWithPending_LosesNothing is case BR-05: what waits survives a kill, what was due meanwhile
// comes at once, and no timer is early.
func TestKillWithPending_LosesNothing(t *testing.T) {
	t.Parallel()
	l := newDelayLab(t, nil)
	c := l.dial()
	c.MustCreateTopic(t, l.topic+"-timers", 1)
	want := make([]string, 0, 16)
	for i := range 5 {
		body := fmt.Sprint("plain ", i)
		c.MustSend(t, wire.Send{Topic: l.topic, Body: []byte(body)})
		want = append(want, body)
	}
	wire.Introduce(t, l.BrokerAddr, "kill-with-pending", l.topic)
	wantCode(t, "commit", c.Commit(t, "kill-with-pending", l.topic, 0, 3), wire.Success)
	for i := range 5 {
		l.send(3, fmt.Sprint("level 3, ", i))
		want = append(want, fmt.Sprint("level 3, ", i))
	}
	due := make(map[string]int64)
	first := time.Now().Add(ahead(12 * time.Second))
	for i := range 5 {
		body, at := fmt.Sprint("timer ", i), first.Add(time.Duration(i)*100*time.Millisecond).UnixMilli()
		due[body] = at
		wantCode(t, body, timerOf(t, c, l.topic+"-timers", body, "TIMER_DELIVER_MS", strconv.FormatInt(at, 10)), wire.Success)
	}
	l.send(2, "level 2")
	want = append(want, "level 2")
	l.await("what is due before the kill", 6)
	awaitSaved(t, l.Target, "kill-with-pending", l.topic, 3)
	l.Kill()
	l.Launch()
	suite.Eventually(t, slow, "every message of the levels", func() bool {
		got := l.bodies()
		return !slices.ContainsFunc(want, func(body string) bool { return !slices.Contains(got, body) })
	})
	timers := awaitStored(t, l.dial(), l.topic+"-timers", 0, 5)
	for _, m := range timers {
		if early := due[string(m.Body)] - m.StoreTimestamp; early > 0 {
			t.Errorf("%q came %d ms early", m.Body, early)
		}
		delete(due, string(m.Body))
	}
	if len(due) > 0 {
		t.Errorf("lost: %v", due)
	}
	offset := l.dial().QueryOffset(t, "kill-with-pending", l.topic, 0, nil)
	if offset.Code != wire.Success || offset.Ext["offset"] != "3" {
		t.Errorf("the committed offset is %v, want 3", offset)
	}
}

// TestTimersOfOneSecond_AllArrive is case BR-13: delivery drifted by tens of seconds.
func TestTimersOfOneSecond_AllArrive(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	suite.WithLead(t, ahead(8*time.Second), func(lead time.Duration) bool {
		topic := suite.Name(t, "topic")
		c.MustCreateTopic(t, topic, 1)
		due, inTime := sendWithinASecond(t, c, topic, lead)
		if inTime {
			wantInTime(t, awaitStored(t, c, topic, 0, int64(len(due))), due)
		}
		return inTime
	})
}

// sendWithinASecond sends 500 messages for one second, and returns when each is due; false when the second
// came meanwhile.
func sendWithinASecond(t *testing.T, c *wire.Conn, topic string, lead time.Duration) (due map[string]int64, inTime bool) {
	t.Helper()
	const many = 500
	second := time.Now().Add(lead).Truncate(time.Second)
	due = make(map[string]int64, many)
	for i := range many {
		body, at := fmt.Sprint(i), second.Add(time.Duration(2*i)*time.Millisecond).UnixMilli()
		due[body] = at
		if !waits(t, body, timerOf(t, c, topic, body, "TIMER_DELIVER_MS", strconv.FormatInt(at, 10)), second) {
			return nil, false
		}
	}
	return due, true
}

// wantInTime wants each message once and none early. How late the last one is, a stall of the machine decides
// too: the limit is far above one, and far below a wheel that turns behind.
func wantInTime(t *testing.T, got []wire.Message, due map[string]int64) {
	t.Helper()
	latest := int64(0)
	for _, m := range got {
		at, ok := due[string(m.Body)]
		if late := m.StoreTimestamp - at; !ok || late < 0 {
			t.Errorf("%q came again, or %d ms early", m.Body, -late)
		} else {
			latest = max(latest, late)
		}
		delete(due, string(m.Body))
	}
	if len(due) > 0 {
		t.Errorf("%d are lost", len(due))
	}
	t.Logf("at most %d ms late", latest)
	if latest > slow.Milliseconds() {
		t.Errorf("%d ms late", latest)
	}
}

// TestTimerDelivered_CarriesTheInstant is about the properties of a delivered message. A copy that a
// consumer forwards as it is must not wait again; one that is given a new delay must.
func TestTimerDelivered_CarriesTheInstant(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	mustWait(t, "send", timerOf(t, c, topic, "first", "TIMER_DELAY_SEC", "1", "UNIQ_KEY", suite.Name(t, "key"), "TAGS", "A"))
	got := awaitStored(t, c, topic, 0, 1)[0]
	if got.Properties["REAL_TOPIC"] != topic || got.Properties["REAL_QID"] != "0" || got.Properties["TIMER_OUT_MS"] == "" || got.Properties["TAGS"] != "A" {
		t.Errorf("properties %v", got.Properties)
	}
	_, relative := got.Properties["TIMER_DELAY_SEC"]
	suite.Differs(t, "cases/timer-instants-only", !relative && got.Properties["TIMER_DELIVER_MS"] != "", fmt.Sprintf("TIMER_DELAY_SEC kept: %v", relative))

	wantCode(t, "forward", c.Send(t, wire.Send{Topic: topic, Body: []byte("forwarded"), Properties: got.RawProperties}), wire.Success)
	if n := c.MaxOffset(t, topic, 0); n != 2 {
		t.Errorf("the forwarded copy is not visible: %d messages", n)
	}
	delete(got.Properties, "TIMER_DELAY_SEC")
	pairs := []string{"TIMER_DELAY_SEC", "3600"}
	for name, value := range got.Properties {
		pairs = append(pairs, name, value)
	}
	answer := timerOf(t, c, topic, "delayed again", pairs...)
	wantCode(t, "delayed again", answer, wire.Success)
	stored, _ := c.View(t, offsetOf(t, answer))
	waits := stored.Topic == wire.TimerTopic
	suite.Differs(t, "cases/timer-out-ms-is-the-brokers", waits, fmt.Sprintf("delivered at once: %v", !waits))
}

// TestTimerInRetryTopic_MeansNothing since the time was served when the message came to its group.
func TestTimerInRetryTopic_MeansNothing(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	group := suite.Name(t, "group")
	wire.Introduce(t, suite.Server().BrokerAddr, group, suite.Name(t, "topic"))
	sent := c.MustSend(t, wire.Send{Topic: "%RETRY%" + group, Body: []byte("again"), Properties: wire.Properties("TIMER_DELAY_SEC", "3600")})
	stored, answer := c.View(t, sent.CommitLogOffset)
	wantCode(t, "view", answer, wire.Success)
	suite.Differs(t, "cases/timer-not-on-retries", stored.Topic == "%RETRY%"+group, "stored in "+stored.Topic)
}

// TestTimerSentBack_WaitsItsLevelOnly is a retry of a delivered timer message.
func TestTimerSentBack_WaitsItsLevelOnly(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	topic, group := suite.Name(t, "topic"), suite.Name(t, "group")
	c.MustCreateTopic(t, topic, 1)
	wire.Introduce(t, suite.Server().BrokerAddr, group, topic)
	mustWait(t, "send", timerOf(t, c, topic, "retried", "TIMER_DELAY_MS", "1500"))
	got := awaitStored(t, c, topic, 0, 1)[0]
	wantCode(t, "send back", c.SendBack(t, group, topic, got.CommitLogOffset, 1), wire.Success)
	again := awaitStored(t, c, "%RETRY%"+group, 0, 1)[0]
	if waited := again.StoreTimestamp - got.StoreTimestamp; string(again.Body) != "retried" || waited < 1000 {
		t.Errorf("%q came back after %d ms", again.Body, waited)
	}
	wantCode(t, "dead letter", c.SendBack(t, group, topic, got.CommitLogOffset, -1), wire.Success)
	if dead := awaitStored(t, c, "%DLQ%"+group, 0, 1); string(dead[0].Body) != "retried" {
		t.Errorf("dead letter %q", dead[0].Body)
	}
}

// TestTimerAdmin is about what tools and replicas ask: codes 60 and 61.
func TestTimerAdmin(t *testing.T) {
	t.Parallel()
	target := peer.StartTarget(t, nil)
	c := wire.Dial(t, target.BrokerAddr)
	topic := suite.Name(t, "topic")
	for i := range 3 {
		mustWait(t, "send", timerOf(t, c, topic, fmt.Sprint(i), "TIMER_DELAY_SEC", "3600"))
	}
	type metrics struct {
		TimingCount map[string]struct {
			Count     int64 `json:"count"`
			TimeStamp int64 `json:"timeStamp"`
		} `json:"timingCount"`
	}
	suite.Eventually(t, slow, "three messages are counted", func() bool {
		answer := c.Call(t, wire.GetTimerMetrics, nil, nil)
		wantCode(t, "metrics", answer, wire.Success)
		var m metrics
		if err := json.Unmarshal(answer.Body, &m); err != nil {
			t.Fatalf("metrics %s: %v", answer.Body, err)
		}
		return m.TimingCount[topic].Count == 3
	})
	suite.Eventually(t, slow, "the checkpoint has taken three messages in", func() bool {
		answer := c.Call(t, wire.GetTimerCheckPoint, nil, nil)
		wantCode(t, "checkpoint", answer, wire.Success)
		if len(answer.Body) != 56 {
			t.Fatalf("the checkpoint has %d bytes, want 56", len(answer.Body))
		}
		return binary.BigEndian.Uint64(answer.Body[16:]) == 3
	})
}

// TestTimersOfOneQueue_KeepIt: a message with a sharding key comes in the queue that its producer
// chose for the key. Messages of one instant come in the order they were sent in; the real broker
// shuffles those of one second.
func TestTimersOfOneQueue_KeepIt(t *testing.T) {
	t.Parallel()
	c := dialBroker(t)
	suite.WithLead(t, 3*time.Second, func(lead time.Duration) bool {
		topic := suite.Name(t, "topic")
		c.MustCreateTopic(t, topic, 3)
		at := time.Now().Add(lead)
		var want []string
		for i := range 20 {
			body := fmt.Sprintf("%02d", i)
			sent := c.MustSend(t, wire.Send{Topic: topic, QueueID: 1, Body: []byte(body), Properties: wire.Properties(
				"TIMER_DELIVER_MS", strconv.FormatInt(at.UnixMilli(), 10), "__SHARDINGKEY", "k")})
			if sent.QueueID != 1 {
				t.Errorf("the answer names queue %d, want 1", sent.QueueID)
			}
			want = append(want, body)
		}
		if time.Until(at) < time.Second {
			return false
		}
		got := bodies(awaitStored(t, c, topic, 1, 20))
		if peer.TargetKind() == peer.Real {
			slices.Sort(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the queue holds %q, want %q", got, want)
		}
		return true
	})
}
