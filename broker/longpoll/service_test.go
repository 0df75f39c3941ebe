package longpoll_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/longpoll"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answer collects why a waiter was resumed.
type answer chan longpoll.Reason

func (a answer) Resume(reason longpoll.Reason) { a <- reason }

func (a answer) want(t *testing.T, want longpoll.Reason) {
	t.Helper()
	select {
	case got := <-a:
		if got != want {
			t.Fatalf("resumed for reason %d, want %d", got, want)
		}
	case <-time.After(await.Patience):
		t.Fatalf("not resumed, want reason %d", want)
	}
}

func (a answer) wantHeld(t *testing.T) {
	t.Helper()
	select {
	case got := <-a:
		t.Fatalf("resumed for reason %d, want it held", got)
	default:
	}
}

func quietLog() logrus.FieldLogger {
	log, _ := test.NewNullLogger()
	log.SetLevel(logrus.DebugLevel)
	return log
}

func start(t *testing.T, wire clock.Clock) *longpoll.Service {
	t.Helper()
	s, err := longpoll.New(longpoll.Options{Wire: wire, Log: quietLog(), Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func waiter(queueID int32, offset, deadline int64, a answer) *longpoll.Waiter {
	return &longpoll.Waiter{Topic: "T", QueueID: queueID, Offset: offset, Deadline: deadline, ConnID: 1, Resumer: a}
}

func TestArrivalWakesTheQueuesWaiters(t *testing.T) {
	t.Parallel()
	s := start(t, clock.NewVirtual(0))
	first, second, other, later := make(answer, 1), make(answer, 1), make(answer, 1), make(answer, 1)
	s.Park(waiter(0, 5, 1000, first))
	s.Park(waiter(0, 5, 2000, second))
	s.Park(waiter(1, 5, 1000, other))
	s.Park(waiter(0, 9, 1000, later))

	s.Arrived(store.Arrival{Topic: "T", QueueID: 0, Offset: 5})
	first.want(t, longpoll.Arrived)
	second.want(t, longpoll.Arrived)
	if n := s.Waiting(); n != 2 {
		t.Errorf("%d wait, want 2", n)
	}
	other.wantHeld(t)
	later.wantHeld(t)
}

func TestMismatchedTagLeavesItHeld(t *testing.T) {
	t.Parallel()
	s := start(t, clock.NewVirtual(0))
	a := make(answer, 1)
	w := waiter(0, 0, 1000, a)
	w.Filter = filter.Tags([]string{"TagA"}, nil)
	s.Park(w)
	s.Arrived(store.Arrival{Topic: "T", Offset: 0, Unit: store.Unit{TagsCode: int64(filter.Hash("TagB"))}})
	if n := s.Waiting(); n != 1 {
		t.Fatalf("%d wait, want 1", n)
	}
	s.Arrived(store.Arrival{Topic: "T", Offset: 1, Unit: store.Unit{TagsCode: int64(filter.Hash("TagA"))}})
	a.want(t, longpoll.Arrived)
}

func TestDeadlinesAreMetInOrder(t *testing.T) {
	t.Parallel()
	wire := clock.NewVirtual(0)
	s := start(t, wire)
	late, soon := make(answer, 1), make(answer, 1)
	s.Park(waiter(0, 0, 3000, late))
	s.Park(waiter(0, 0, 1000, soon))
	waitArmed(t, wire, 1000)
	wire.Set(999)
	soon.wantHeld(t)
	wire.Set(1000)
	soon.want(t, longpoll.TimedOut)
	late.wantHeld(t)
	waitArmed(t, wire, 3000)
	wire.Set(5000)
	late.want(t, longpoll.TimedOut)
	if n := s.Waiting(); n != 0 {
		t.Errorf("%d wait, want none", n)
	}
}

func TestClosedConnectionsWaitersGo(t *testing.T) {
	t.Parallel()
	s := start(t, clock.NewVirtual(0))
	gone, alsoGone, stays := make(answer, 1), make(answer, 1), make(answer, 1)
	s.Park(waiter(0, 0, 1000, gone))
	w := waiter(0, 0, 1000, stays)
	w.ConnID = 2
	s.Park(w)
	s.Park(waiter(3, 0, 1000, alsoGone))
	s.ConnClosed(1)
	gone.want(t, longpoll.Gone)
	alsoGone.want(t, longpoll.Gone)
	stays.wantHeld(t)
	s.Arrived(store.Arrival{Topic: "T"})
	stays.want(t, longpoll.Arrived)
}

func TestResumeParkedAndUnparked(t *testing.T) {
	t.Parallel()
	s := start(t, clock.NewVirtual(0))
	a := make(answer, 2)
	w := waiter(0, 0, 1000, a)
	s.Park(w)
	s.Resume(w)
	a.want(t, longpoll.Arrived)
	b := make(answer, 2)
	s.Resume(waiter(0, 0, 1000, b))
	b.want(t, longpoll.Arrived)
}

func TestResumeOfAWaiterThatCameBack(t *testing.T) {
	t.Parallel()
	s := start(t, clock.NewVirtual(0))
	a := make(answer, 2)
	w := waiter(0, 0, 1000, a)
	s.Park(w)
	s.Arrived(store.Arrival{Topic: "T"})
	a.want(t, longpoll.Arrived)
	s.Resume(w)
	// What is resumed later is resumed after: the workers take turns in order.
	later := []answer{make(answer, 1), make(answer, 1)}
	for _, b := range later {
		s.Resume(waiter(0, 0, 1000, b))
	}
	for _, b := range later {
		b.want(t, longpoll.Arrived)
	}
	a.wantHeld(t)
}

func TestCloseReleasesEveryone(t *testing.T) {
	t.Parallel()
	s := start(t, clock.NewVirtual(0))
	a := make(answer, 1)
	s.Park(waiter(0, 0, 1000, a))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	a.want(t, longpoll.Gone)
}

func TestStopHolding_SendsEveryoneAway(t *testing.T) {
	t.Parallel()
	s := start(t, clock.NewVirtual(0))
	held, late := make(answer, 1), make(answer, 1)
	s.Park(waiter(0, 0, 1000, held))
	s.StopHolding()
	held.want(t, longpoll.Stopping)
	s.Park(waiter(0, 0, 1000, late))
	late.want(t, longpoll.Stopping)
	if n := s.Waiting(); n != 0 {
		t.Errorf("%d are held", n)
	}
}

func waitArmed(t *testing.T, wire *clock.Virtual, at int64) {
	t.Helper()
	await.Until(t, fmt.Sprintf("a timer is armed for %d", at), func() bool {
		next, armed := wire.Next()
		return armed && next == at
	})
}

func BenchmarkArrivedNobodyWaits(b *testing.B) {
	log, _ := test.NewNullLogger()
	s, err := longpoll.New(longpoll.Options{Wire: clock.NewVirtual(0), Log: log})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Arrived(store.Arrival{Topic: "T", QueueID: 1, Offset: 1})
	}
}
