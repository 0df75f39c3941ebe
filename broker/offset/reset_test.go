package offset_test

import (
	"slices"
	"testing"

	"github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
)

func TestResetSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir, wire := t.TempDir(), clock.NewVirtual(0)
	table := open(t, dir, wire)
	table.Commit(b("g"), b("T"), 0, 5)
	table.Commit(b("g"), b("T"), 1, 6)
	table.Reset("g", "T", 0, 2)
	for range 2 {
		if err := table.Save(); err != nil {
			t.Fatal(err)
		}
		table = open(t, dir, wire)
		if taken := table.Commit(b("g"), b("T"), 0, 5); taken != offset.Ignored {
			t.Errorf("a commit of the time before: %v", taken)
		}
		if at, ok := table.TakeReset("g", "T", 0, 10); !ok || at != 2 {
			t.Errorf("the pull is sent to %d, %v; want 2", at, ok)
		}
	}
	if _, ok := table.TakeReset("g", "T", 1, 10); ok {
		t.Error("another queue is reset, too")
	}
	if _, ok := table.TakeReset("g", "T", 0, 10); ok {
		t.Error("the pull behind the one that was sent is sent again")
	}
	if err := table.Save(); err != nil {
		t.Fatal(err)
	}
	if table = open(t, dir, wire); table.Resetting() {
		t.Error("a reset that is done is remembered")
	}
}

func TestResetIsForgottenWithItsTopicAndGroup(t *testing.T) {
	t.Parallel()
	table := open(t, t.TempDir(), clock.NewVirtual(0))
	table.Reset("g", "T", 0, 2)
	table.Reset("g", "T", 0, 3)
	table.Reset("h", "U", 0, 2)
	table.DeleteTopic("T")
	table.DeleteGroup("h")
	if table.Resetting() || table.ResetPending("g", "T", 0) {
		t.Error("a reset outlives what it was of")
	}
	table.Commit(b("i"), b("T"), 0, 9)
	table.Reset("j", "T", 0, 2)
	table.Reset("j", "T", 1, 2)
	table.Clone("i", "j", "T")
	if table.Resetting() || table.Query(b("j"), b("T"), 0) != 9 || table.Query(b("j"), b("T"), 1) != offset.None {
		t.Error("cloned offsets do not replace those that were reset")
	}
	if got := table.Groups("T"); !slices.Equal(got, []string{"i", "j"}) {
		t.Errorf("groups %v", got)
	}
}

// Under profile=5.5.0 a reset ends with the pull that is sent to it.
func TestResetAsInRocketMQ(t *testing.T) {
	t.Parallel()
	log, _ := test.NewNullLogger()
	differences, err := difference.NewSet("5.5.0")
	if err != nil {
		t.Fatal(err)
	}
	wire := clock.NewVirtual(0)
	table, err := offset.New(offset.Options{Wire: wire, Store: wire, Log: log, Config: persist.At(t.TempDir()), Differences: differences})
	if err != nil {
		t.Fatal(err)
	}
	table.Reset("g", "T", 0, 2)
	if taken := table.Commit(b("g"), b("T"), 0, 5); taken != offset.Ignored {
		t.Errorf("a commit before the pull: %v", taken)
	}
	if at, ok := table.TakeReset("g", "T", 0, 10); !ok || at != 2 {
		t.Errorf("the pull is sent to %d, %v; want 2", at, ok)
	}
	if taken := table.Commit(b("g"), b("T"), 0, 5); taken != offset.Stored {
		t.Errorf("a commit after the pull: %v", taken)
	}
}

// What a group's clients remember of a topic is not true of another with its name.
func TestATopicThatIsCreatedAgain(t *testing.T) {
	t.Parallel()
	log, _ := test.NewNullLogger()
	wire := clock.NewVirtual(0)
	table, err := offset.New(offset.Options{
		Wire: wire, Store: wire, Log: log, Config: persist.At(t.TempDir()),
		Online: func(group, topic string) bool { return group == "g" && topic == "T" },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{"g", "offline"} {
		table.Commit(b(group), b("T"), 0, 10)
		table.Pulled(b(group), b("T"), 0, 10)
		table.Pulled(b(group), b("T"), 1, 0)
	}
	table.DeleteTopic("T")
	if got := table.Groups("T"); len(got) != 0 {
		t.Errorf("groups %v of a deleted topic", got)
	}
	if taken := table.Commit(b("g"), b("T"), 0, 10); taken != offset.Ignored || table.Query(b("g"), b("T"), 0) != offset.None {
		t.Errorf("the old offset is inherited: %v, %d", taken, table.Query(b("g"), b("T"), 0))
	}
	if _, ok := table.TakeReset("offline", "T", 0, 10); ok {
		t.Error("a group that was offline is sent somewhere")
	}
	if _, ok := table.TakeReset("g", "T", 1, 10); ok {
		t.Error("a queue whose clients were at its beginning is reset")
	}
	if at, ok := table.TakeReset("g", "T", 0, 10); !ok || at != 0 {
		t.Errorf("the pull is sent to %d, %v; want 0", at, ok)
	}
	if taken := table.Commit(b("g"), b("T"), 0, 0); taken != offset.Arrived {
		t.Errorf("the client takes it over: %v", taken)
	}
	table.TakeReset("g", "T", 0, 10)
	if taken := table.Commit(b("g"), b("T"), 0, 3); taken != offset.Stored || table.Resetting() {
		t.Errorf("afterwards: %v", taken)
	}
}
