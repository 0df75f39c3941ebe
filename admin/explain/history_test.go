package explain

import (
	"testing"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/message"
)

func record(topic string, retries int32, properties ...string) admin.Message {
	m := admin.Message{Topic: topic, ReconsumeTimes: retries, Properties: map[string]string{}}
	for i := 0; i < len(properties); i += 2 {
		m.Properties[properties[i]] = properties[i+1]
	}
	return m
}

func TestHistory_WhatWaitsUntilItsCopyIsThere(t *testing.T) {
	t.Parallel()
	delayed := record(message.TopicSchedule, 0, message.PropertyRealTopic, "orders")
	h := historyOf([]admin.Message{delayed})
	if h.waiting == nil || h.visible != nil || h.topic != "orders" {
		t.Errorf("before: %+v", h)
	}
	h = historyOf([]admin.Message{delayed, record("orders", 0)})
	if h.waiting != nil || h.visible == nil {
		t.Errorf("after: %+v", h)
	}
}

func TestHistory_Retries(t *testing.T) {
	t.Parallel()
	retry := func(n int32) admin.Message {
		return record(message.TopicSchedule, n, message.PropertyRealTopic, message.PrefixRetry+"g")
	}
	h := historyOf([]admin.Message{record("orders", 0), retry(1), record(message.PrefixRetry+"g", 1), retry(2)})
	if h.failedGroup() != "g" || h.retries["g"] == nil || h.waiting.ReconsumeTimes != 2 || h.topic != "orders" {
		t.Errorf("got %+v", h)
	}
	h = historyOf([]admin.Message{record("orders", 0), retry(1), record(message.PrefixDLQ+"g", 16)})
	if h.dead["g"] == nil {
		t.Errorf("got %+v", h)
	}
}

// A pop's retry topic has the topic behind the group, with one of two signs between.
func TestHistory_RetriesOfPops(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"my_group_orders", "my_group+orders"} {
		h := historyOf([]admin.Message{record("orders", 0), record(message.PrefixRetry+name, 1)})
		if h.retries["my_group"] == nil {
			t.Errorf("%s: got %+v", name, h.retries)
		}
	}
	h := historyOf([]admin.Message{record(message.PrefixRetry+"g+t+u", 1, propertyOriginGroup, "g+t")})
	if h.retries["g+t"] == nil {
		t.Errorf("got %+v", h.retries)
	}
}

func TestHistory_CancelsAndParkedMessages(t *testing.T) {
	t.Parallel()
	timer := record(message.TopicTimer, 0, message.PropertyRealTopic, "orders")
	recall := record(message.TopicTimer, 0, message.PropertyRealTopic, "orders", message.PropertyTimerDelUniqKey, "orders_ID")
	operator := record(message.TopicTimer, 0, message.PropertyRealTopic, "orders", message.PropertySupersedes, "1800000000:4096:1024:0")
	again := record(message.TopicTimer, 0, message.PropertyRealTopic, "orders", message.PropertySupersedes, "1800000000:4096:1024:1")
	for _, cancel := range []admin.Message{recall, operator} {
		if h := historyOf([]admin.Message{timer, cancel}); h.recall == nil || h.topic != "orders" {
			t.Errorf("got %+v", h)
		}
	}
	if h := historyOf([]admin.Message{timer, again}); h.recall != nil || h.waiting == nil {
		t.Errorf("another instant: got %+v", h)
	}
	parked := record(message.TopicParked, 0, "PARK_TOPIC", "orders")
	if h := historyOf([]admin.Message{timer, parked}); h.parked == nil || h.waiting != nil || h.topic != "orders" {
		t.Errorf("got %+v", h)
	}
	if h := historyOf([]admin.Message{timer, parked, record("orders", 0)}); h.parked != nil || h.visible == nil {
		t.Errorf("driven again: got %+v", h)
	}
}

func TestWaitsUntil(t *testing.T) {
	t.Parallel()
	levels, err := schedule.ParseLevels(schedule.DefaultLevels)
	if err != nil {
		t.Fatal(err)
	}
	const now = 1_800_000_000_000
	level := record(message.TopicSchedule, 0)
	level.QueueID, level.StoreMs = 4, now-19_000
	own := record(message.TopicSchedule, 0, message.PropertyDueMs, "1800000041000")
	own.QueueID = 4
	timer := record(message.TopicTimer, 0, message.PropertyTimerOutMs, "1800000005000")
	late := record(message.TopicTimer, 0, message.PropertyTimerDeliverMs, "1799999940000")
	for want, m := range map[string]admin.Message{
		"level 5, queue 4, due 2027-01-15T08:00:41.000Z, in 41s":  level,
		"level 5, queue 4, due 2027-01-15T08:00:41.000Z, in 41s ": own,
		"due 2027-01-15T08:00:05.000Z, in 5s":                     timer,
		"overdue: due 2027-01-15T07:59:00.000Z, 1m0s ago: the broker's delay service is behind, or the topic refuses it for a while": late,
	} {
		if says, _ := waitsUntil(&m, &delays{levels: levels}, now); says != want && says+" " != want {
			t.Errorf("got %q, want %q", says, want)
		}
	}
	if says, due := waitsUntil(&admin.Message{Topic: message.TopicTimer}, &delays{levels: levels}, now); due != 0 || says == "" {
		t.Errorf("got %q, %d", says, due)
	}
}

func TestWaitsUntil_WhereNothingIsDelivered(t *testing.T) {
	t.Parallel()
	const now = 1_800_000_000_000
	off := &delays{broker: "broker-a", table: map[string]string{"scheduleMessageEnable": "false", "timerWheelEnable": "false"}}
	level := record(message.TopicSchedule, 0, message.PropertyDueMs, "1800000041000")
	late := record(message.TopicTimer, 0, message.PropertyTimerDeliverMs, "1799999940000")
	for want, m := range map[string]admin.Message{
		"level 1, queue 0, due 2027-01-15T08:00:41.000Z, in 41s; nothing delivers it: scheduleMessageEnable is false on broker-a": level,
		"overdue: due 2027-01-15T07:59:00.000Z, 1m0s ago; nothing delivers it: timerWheelEnable is false on broker-a":             late,
	} {
		if says, _ := waitsUntil(&m, off, now); says != want {
			t.Errorf("got %q, want %q", says, want)
		}
	}
}
