package subscription_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/subscription"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/remoting"
)

func newTable(t testing.TB, dir string, autoCreate bool) *subscription.Table {
	t.Helper()
	log, _ := test.NewNullLogger()
	table, err := subscription.New(subscription.Options{
		Store: clock.NewVirtual(1_800_000_000_000), Log: log, Config: persist.At(dir), AutoCreate: autoCreate,
	})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestFind_CreatesOnlyWhatMayBe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		group      string
		autoCreate bool
		want       bool
	}{
		"new":                  {"g", true, true},
		"auto-creation is off": {"g", false, false},
		"system group":         {"TOOLS_CONSUMER", false, true},
		"illegal":              {"g g", true, false},
		"empty":                {"", true, false},
		"too long":             {strings.Repeat("g", 256), true, false},
	} {
		table := newTable(t, "", c.autoCreate)
		config := table.Find([]byte(c.group))
		if (config != nil) != c.want {
			t.Errorf("%s: found %+v", name, config)
			continue
		}
		if c.want && (config.RetryMaxTimes != 16 || config.RetryQueueNums != 1 || !config.ConsumeEnable) {
			t.Errorf("%s: not the real broker's defaults: %+v", name, config)
		}
	}
}

func TestFind_ConcurrentlyCreatesOne(t *testing.T) {
	t.Parallel()
	table := newTable(t, "", true)
	before := table.Wrapper().DataVersion.Counter
	found := make([]*subscription.Config, 8)
	var wg sync.WaitGroup
	for i := range found {
		wg.Add(1)
		go func() {
			defer wg.Done()
			found[i] = table.Find([]byte("g"))
		}()
	}
	wg.Wait()
	for _, config := range found {
		if config == nil || config != found[0] {
			t.Fatalf("found %p and %p", config, found[0])
		}
	}
	if after := table.Wrapper().DataVersion.Counter; after != before+1 {
		t.Errorf("the version moved by %d, want 1", after-before)
	}
}

func TestTable_SurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table := newTable(t, dir, true)
	config := remoting.DefaultSubscriptionGroupConfig("g")
	config.RetryMaxTimes, config.ConsumeEnable = 3, false
	if err := table.Update(config); err != nil {
		t.Fatal(err)
	}
	table.Find([]byte("gone"))
	if existed, err := table.Delete("gone"); !existed || err != nil {
		t.Fatal(existed, err)
	}
	again := newTable(t, dir, false)
	if got := again.Get("g"); got == nil || got.RetryMaxTimes != 3 || got.ConsumeEnable {
		t.Errorf("after a restart: %+v", got)
	}
	if again.Find([]byte("gone")) != nil {
		t.Error("a deleted group is back")
	}
	if existed, err := again.Delete("gone"); existed || err != nil {
		t.Errorf("deleting what does not exist: %v, %v", existed, err)
	}
}

func TestUpdate_RefusesIllegalNames(t *testing.T) {
	t.Parallel()
	table := newTable(t, "", true)
	var refusal *remoting.Error
	err := table.Update(remoting.DefaultSubscriptionGroupConfig("a.b"))
	if !errors.As(err, &refusal) || refusal.Code != remoting.InvalidParameter {
		t.Errorf("%v, want code 29", err)
	}
}

// TestUpdate_EditsAttributes: what an update does not name stays; a list with a wrong one changes nothing.
func TestUpdate_EditsAttributes(t *testing.T) {
	t.Parallel()
	table := newTable(t, t.TempDir(), false)
	update := func(name string, edits map[string]string) subscription.Config {
		config := remoting.DefaultSubscriptionGroupConfig(name)
		config.Attributes = edits
		return config
	}
	factor := func() string { return table.Get("g").Attributes["priority.factor"] }
	for _, edits := range []map[string]string{{"+priority.factor": "7"}, nil, {}} {
		if err := table.Update(update("g", edits)); err != nil || factor() != "7" {
			t.Errorf("%v: %v, priority.factor %q", edits, err, factor())
		}
	}
	err := table.UpdateAll([]subscription.Config{update("g", map[string]string{"+priority.factor": "8"}), update("h", map[string]string{"+nonsense": "1"})})
	if err == nil || factor() != "7" || table.Get("h") != nil {
		t.Errorf("a list with a wrong attribute: %v, priority.factor %q, %v", err, factor(), table.Get("h"))
	}
	if err := table.Update(update("g", map[string]string{"-priority.factor": ""})); err != nil || factor() != "" {
		t.Errorf("removed: %v, priority.factor %q", err, factor())
	}
}
