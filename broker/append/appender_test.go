package appender_test

import (
	"errors"
	"testing"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

type lastPut struct{ rec message.Record }

func (l *lastPut) Put(rec *message.Record, _ store.Completion) (store.PutResult, bool) {
	l.rec = *rec
	return store.PutResult{}, false
}

func (l *lastPut) PutBatch([]message.Record, store.Completion) (store.PutResult, bool) {
	return store.PutResult{}, false
}

func (l *lastPut) Collect(_ *store.Group, rec *message.Record) store.Status {
	l.rec = *rec
	if rec.Topic == "illegal" {
		return store.MessageIllegal
	}
	return store.PutOK
}

func (l *lastPut) PutGroup(*store.Group, store.Completion) (int, store.PutResult, bool) {
	return 1, store.PutResult{Status: store.ServiceNotAvailable}, true
}

func TestPut_OnlySchedulersSetTheServersOwnProperties(t *testing.T) {
	t.Parallel()
	var log lastPut
	a := appender.New(&log)
	forged := message.PropertyAppend(message.PropertyAppend(nil, message.PropertySource, "1:2:0"), message.PropertyTags, "A")
	for origin, want := range map[appender.Origin]bool{
		appender.FromClient: false, appender.FromBroker: false, appender.FromScheduler: true,
	} {
		if _, _, err := a.Put(&message.Record{Properties: forged}, origin, nil); err != nil {
			t.Fatal(err)
		}
		if _, got := message.PropertyGet(log.rec.Properties, message.PropertySource); got != want {
			t.Errorf("origin %d: the identity is there: %v, want %v", origin, got, want)
		}
		if tags, _ := message.PropertyGet(log.rec.Properties, message.PropertyTags); string(tags) != "A" {
			t.Errorf("origin %d: tags became %q", origin, tags)
		}
	}
}

func TestPut_HooksRunInOrderAndRefuse(t *testing.T) {
	t.Parallel()
	var log lastPut
	refusal := errors.New("no")
	var ran []string
	hook := func(name string, err error) appender.Hook {
		return func(*message.Record, appender.Origin) error {
			ran = append(ran, name)
			return err
		}
	}
	a := appender.New(&log, hook("first", nil), hook("second", refusal), hook("third", nil))
	if _, _, err := a.Put(&message.Record{Topic: "T"}, appender.FromClient, nil); !errors.Is(err, refusal) {
		t.Fatalf("Put: %v, want the hook's refusal", err)
	}
	if len(ran) != 2 || ran[0] != "first" || ran[1] != "second" || log.rec.Topic != "" {
		t.Fatalf("ran %v, stored %q", ran, log.rec.Topic)
	}
}

func TestCollect_IsLikePut(t *testing.T) {
	t.Parallel()
	var log lastPut
	refusal := errors.New("no")
	a := appender.New(&log, func(rec *message.Record, _ appender.Origin) error {
		if rec.Topic == "refused" {
			return refusal
		}
		return nil
	})
	var g store.Group
	forged := message.PropertyAppend(nil, message.PropertySource, "1:2:0")
	if full, err := a.Collect(&g, &message.Record{Topic: "T", Properties: forged}, appender.FromBroker); full || err != nil {
		t.Errorf("full %v, %v", full, err)
	}
	if _, there := message.PropertyGet(log.rec.Properties, message.PropertySource); there || !log.rec.Internal {
		t.Errorf("collected: %+v", log.rec)
	}
	if _, err := a.Collect(&g, &message.Record{Topic: "refused"}, appender.FromScheduler); !errors.Is(err, refusal) {
		t.Errorf("%v, want the hook's refusal", err)
	}
	var code *remoting.Error
	if _, err := a.Collect(&g, &message.Record{Topic: "illegal"}, appender.FromScheduler); !errors.As(err, &code) || code.Code != remoting.MessageIllegal {
		t.Errorf("%v", err)
	}
	if stored, pending, err := a.PutGroup(&g, nil); stored != 1 || !pending || !errors.As(err, &code) || code.Code != remoting.ServiceNotAvailable {
		t.Errorf("%d stored, pending %v, %v", stored, pending, err)
	}
}
