package park_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus/hooks/test"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/park"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// door keeps what is put, or refuses it.
type door struct {
	put     []message.Record
	refuse  error
	maxBody int // 0: any
}

func (d *door) Put(rec *message.Record, _ appender.Origin, _ store.Completion) (store.PutResult, bool, error) {
	if d.refuse != nil {
		return store.PutResult{}, false, d.refuse
	}
	if d.maxBody > 0 && len(rec.Body) > d.maxBody {
		return store.PutResult{}, false, appender.Refusal(store.PutResult{Status: store.MessageIllegal})
	}
	d.put = append(d.put, *rec)
	return store.PutResult{}, false, nil
}

func newService(t *testing.T, d *door, registry *health.Registry) *park.Service {
	t.Helper()
	log, _ := test.NewNullLogger()
	differences, err := difference.NewSet("")
	if err != nil {
		t.Fatal(err)
	}
	s, err := park.New(park.Options{
		Appender: d, Log: log, Metrics: prometheus.NewRegistry(), Health: registry, Differences: differences,
		Pending: func() int64 { return int64(len(d.put)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPark_KeepsTheMessageAndSaysWhy(t *testing.T) {
	t.Parallel()
	var d door
	registry := health.NewRegistry()
	s := newService(t, &d, registry)
	if state := registry.Report().State; state != health.Up {
		t.Fatalf("before: %s", state)
	}
	rec := message.Record{Topic: "T", QueueID: 3, Body: []byte("body"), ReconsumeTimes: 2,
		Properties: message.PropertyAppend(nil, message.PropertyTags, "A")}
	if err := s.Park(&rec, "schedule", "no such topic"); err != nil {
		t.Fatal(err)
	}
	got := d.put[0]
	if got.Topic != message.TopicParked || got.QueueID != 0 || string(got.Body) != "body" || got.ReconsumeTimes != 2 {
		t.Errorf("parked %+v", got)
	}
	for key, want := range map[string]string{
		message.PropertyTags: "A", park.PropertyReason: "no such topic", park.PropertyService: "schedule",
		park.PropertyTopic: "T", park.PropertyQueueID: "3",
	} {
		if v, _ := message.PropertyGet(got.Properties, key); string(v) != want {
			t.Errorf("%s is %q, want %q", key, v, want)
		}
	}
	if rec.Topic != "T" {
		t.Error("the caller's record was changed")
	}
	if result := registry.Report().Parts["parked"]; result.State != health.Degraded || !strings.Contains(result.Reason, "1 messages") {
		t.Errorf("health says %+v", result)
	}
}

func TestPark_RefusedNow_IsReported(t *testing.T) {
	t.Parallel()
	refusal := errors.New("busy")
	s := newService(t, &door{refuse: refusal}, nil)
	if err := s.Park(&message.Record{Topic: "T"}, "schedule", "x"); !errors.Is(err, refusal) {
		t.Errorf("%v, want the refusal", err)
	}
}

func TestPark_LeavesFullPropertiesAlone(t *testing.T) {
	t.Parallel()
	var d door
	props := message.PropertyAppend(nil, "K", strings.Repeat("v", message.MaxPropertiesLength-10))
	if err := newService(t, &d, nil).Park(&message.Record{Topic: "T", Properties: props}, "schedule", "x"); err != nil {
		t.Fatal(err)
	}
	if string(d.put[0].Properties) != string(props) {
		t.Error("the message's own properties were cut")
	}
}

func TestPark_WhatCannotBeStored_LeavesANote(t *testing.T) {
	t.Parallel()
	d := door{maxBody: 1000}
	props := message.PropertyAppend(nil, message.PropertySource, "1:77:0")
	rec := message.Record{Topic: "T", Body: make([]byte, 2000), Properties: message.PropertyAppend(props, "K", "v")}
	if err := newService(t, &d, nil).Park(&rec, "schedule", "too large"); err != nil {
		t.Fatal(err)
	}
	got := d.put[0]
	for key, want := range map[string]string{message.PropertySource: "1:77:0", park.PropertyTopic: "T", park.PropertyReason: "too large"} {
		if v, _ := message.PropertyGet(got.Properties, key); string(v) != want {
			t.Errorf("%s is %q, want %q", key, v, want)
		}
	}
	if got.Topic != message.TopicParked || len(got.Body) == 0 {
		t.Errorf("parked %+v", got)
	}
}
