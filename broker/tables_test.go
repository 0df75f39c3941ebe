package broker_test

import (
	"strings"
	"testing"

	"github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/remoting"
)

// TestTables_ReadFromTheirBackup are told in the log and by health, until a start reads them all.
func TestTables_ReadFromTheirBackup(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	for _, topic := range []string{"A", "B"} {
		l.send(topic, 0, "x", 0)
	}
	l.close()
	if err := l.disk.WriteFile("config/topics.json", []byte("\x00\x00")); err != nil {
		t.Fatal(err)
	}
	log, lines := test.NewNullLogger()
	l.log = log
	l.open(startMs)
	said := ""
	for _, line := range lines.AllEntries() {
		if line.Data["file"] == "config/topics.json" {
			said += line.Message
		}
	}
	if !strings.Contains(said, ".bak") {
		t.Errorf("the log says %q", said)
	}
	if got := l.health.Report().Parts["tables"]; got.State != health.Degraded || !strings.Contains(got.Reason, "topics.json") {
		t.Errorf("health: %+v", got)
	}
	l.send("C", 0, "x", 0)
	l.close()
	l.open(startMs)
	defer l.close()
	if got := l.health.Report().Parts["tables"]; got.State != health.Up {
		t.Errorf("the next start: %+v", got)
	}
}

// TestTables_AreRestored although nothing is saved in between: what was changed of the configuration
// is saved by changes only.
func TestTables_AreRestored(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	l.mustConfigure("traceOn=false")
	l.mustConfigure("fileReservedTime=48")
	l.close()
	if err := l.disk.WriteFile("config/wheelmqConfig.json", []byte("{")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []health.State{health.Degraded, health.Up} {
		l.open(startMs)
		if got := l.health.Report().Parts["tables"]; got.State != want {
			t.Errorf("health: %+v, want %v", got, want)
		}
		if l.broker.Config().TraceOn {
			t.Error("what was changed before the last change is lost")
		}
		l.close()
	}
}

// TestTables_TopicsWithMessagesAreMadeAnew when the table that names them cannot be read, from its .bak or at
// all; one that was deleted is not, and neither is one that a table that can be read does not name.
func TestTables_TopicsWithMessagesAreMadeAnew(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string][]string{"the .bak is read": {"topics.json"}, "neither is read": {"topics.json", "topics.json.bak"}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.open(startMs)
			l.send("Deleted", 0, "x", 0)
			var ext remoting.ExtWriter
			(&remoting.DeleteTopicRequest{Topic: "Deleted"}).Encode(&ext)
			l.call(remoting.DeleteTopicInBroker, &ext, nil)
			l.send("First", 1, "x", 0)
			l.send("Last", 1, "y", 0)
			l.close()
			for _, name := range spoil {
				if err := l.disk.WriteFile("config/"+name, []byte("\x00")); err != nil {
					t.Fatal(err)
				}
			}
			l.open(startMs)
			for _, name := range []string{"First", "Last"} {
				if c := l.broker.Topics().GetString(name); c == nil || c.WriteQueueNums != 2 || c.ReadQueueNums != 2 || c.Perm != topic.PermRead|topic.PermWrite {
					t.Errorf("%s is %+v", name, c)
				}
			}
			if c := l.broker.Topics().GetString("Deleted"); c != nil {
				t.Errorf("the deleted topic is %+v", c)
			}
			if got := l.health.Report().Parts["tables"]; got.State != health.Degraded || !strings.Contains(got.Reason, "Last") {
				t.Errorf("health: %+v", got)
			}
			l.close()
			l.open(startMs)
			defer l.close()
			if got := l.health.Report().Parts["tables"]; got.State != health.Up {
				t.Errorf("the next start: %+v", got)
			}
			if l.broker.Topics().GetString("Last") == nil {
				t.Error("the next start does not know the topic that was made anew")
			}
		})
	}
}
