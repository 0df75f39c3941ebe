package longpoll_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/longpoll"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/store"
)

const retryTopic = "%RETRY%g_T"

// pop is a pop of group g that waits.
func pop(t *testing.T, s *longpoll.Service, queueID int32) answer {
	t.Helper()
	a := make(answer, 1)
	w := waiter(queueID, 0, 1000, a)
	w.Group, w.Kind = "g", longpoll.Pop
	if !s.ParkTurn(w, retryTopic) {
		t.Fatal("not held")
	}
	return a
}

func TestTurns_OnePopForEachArrival(t *testing.T) {
	t.Parallel()
	s := start(t, clock.NewVirtual(0))
	first, second, other := pop(t, s, longpoll.AnyQueue), pop(t, s, longpoll.AnyQueue), pop(t, s, 3)
	if n := s.Turns("T", "g", longpoll.AnyQueue); n != 2 {
		t.Errorf("%d wait, want 2", n)
	}
	s.Arrived(store.Arrival{Topic: "T", QueueID: 1, Offset: 5})
	first.want(t, longpoll.Arrived)
	second.wantHeld(t)
	other.wantHeld(t)
	s.Arrived(store.Arrival{Topic: "T", QueueID: 3, Offset: 6})
	second.want(t, longpoll.Arrived)
	other.want(t, longpoll.Arrived)
	if n := s.Turns("T", "g", longpoll.AnyQueue) + s.Waiting(); n != 0 {
		t.Errorf("%d wait, want none", n)
	}
}

func TestTurns_RetryTopicsAreForTheTopicsPops(t *testing.T) {
	t.Parallel()
	s := start(t, clock.NewVirtual(0))
	anywhere, third := pop(t, s, longpoll.AnyQueue), pop(t, s, 3)
	s.Arrived(store.Arrival{Topic: retryTopic, Offset: 1})
	anywhere.want(t, longpoll.Arrived)
	third.wantHeld(t)
	s.Arrived(store.Arrival{Topic: retryTopic, Offset: 2})
	third.want(t, longpoll.Arrived)
}

func TestTurns_AnotherTagResumesNobodyForLong(t *testing.T) {
	t.Parallel()
	s := start(t, clock.NewVirtual(0))
	a := make(answer, 1)
	w := waiter(0, 0, 1000, a)
	w.Group, w.Kind, w.Filter = "g", longpoll.Pop, filter.Tags([]string{"TagA"}, nil)
	s.ParkTurn(w)
	arrive := func(offset int64) {
		s.Arrived(store.Arrival{Topic: "T", Offset: offset, Unit: store.Unit{TagsCode: int64(filter.Hash("TagB"))}})
	}
	arrive(799)
	a.wantHeld(t)
	arrive(800)
	a.want(t, longpoll.Arrived)
}

func TestTurns_WakeAndBounds(t *testing.T) {
	t.Parallel()
	s, err := longpoll.New(longpoll.Options{Wire: clock.NewVirtual(0), Log: quietLog(), MaxTurns: 3, MaxTurnsEach: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { _ = s.Close() })
	first, _, notified := pop(t, s, 0), pop(t, s, 0), make(answer, 1)
	over := waiter(0, 0, 1000, make(answer, 1))
	over.Group, over.Kind = "g", longpoll.Pop
	if s.ParkTurn(over) {
		t.Error("more are held for one queue than are allowed")
	}
	w := waiter(longpoll.AnyQueue, 0, 1000, notified)
	w.Group, w.Kind = "g", longpoll.Notification
	if !s.ParkTurn(w) {
		t.Fatal("a notification is not held")
	}
	if s.ParkTurn(&longpoll.Waiter{Topic: "U", Group: "g", Kind: longpoll.Pop, Resumer: make(answer, 1)}) {
		t.Error("more are held than are allowed")
	}
	s.Wake("T", "g", 0)
	first.want(t, longpoll.Arrived)
	notified.want(t, longpoll.Arrived)
	s.Wake("T", "other", 0)
	if n := s.Waiting(); n != 1 {
		t.Errorf("%d wait, want 1", n)
	}
}
