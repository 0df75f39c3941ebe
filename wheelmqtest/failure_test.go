package wheelmqtest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/client"
	"github.com/wheelmq/wheelmq/wheelmqtest"
)

// failing is a test that has failed, for what is shown then.
type failing struct {
	cleanups []func()
	shown    strings.Builder
	fatal    bool
}

func (f *failing) Helper()                    {}
func (f *failing) Failed() bool               { return true }
func (f *failing) Cleanup(fn func())          { f.cleanups = append(f.cleanups, fn) }
func (f *failing) Logf(s string, args ...any) { fmt.Fprintf(&f.shown, s+"\n", args...) }
func (f *failing) Fatalf(s string, args ...any) {
	f.fatal = true
	f.Logf(s, args...)
	panic(f)
}

// end runs a test's steps and then its clean-up.
func (f *failing) run(steps func()) {
	defer func() {
		if p := recover(); p != nil && p != any(f) {
			panic(p)
		}
		for i := len(f.cleanups) - 1; i >= 0; i-- {
			f.cleanups[i]()
		}
	}()
	steps()
}

func TestFailure_ShowsExchangesAndLog(t *testing.T) {
	t.Parallel()
	var f failing
	f.run(func() {
		mq := wheelmqtest.Start(&f, wheelmqtest.Topic("orders", 1))
		mq.Fault(wheelmqtest.Rule{ID: "busy", Code: wheelmqtest.GetRouteInfoByTopic, Topic: "orders", Respond: wheelmqtest.SystemBusy})
		ctx, cancel := await.Context()
		defer cancel()
		c, err := client.Dial(ctx, mq.NameServerAddr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var ext remoting.ExtWriter
		ext.String("topic", "orders")
		if _, err := c.Call(ctx, remoting.GetRouteInfoByTopic, &ext, nil); err == nil {
			t.Error("the rule did not apply")
		}
		mq.WaitMessages("orders", 1, 10*time.Millisecond)
	})
	shown := f.shown.String()
	for _, want := range []string{
		"after 10ms topic orders has 0 messages, want 1", "GET_ROUTEINFO_BY_TOPIC (105)", "SYSTEM_BUSY: ", "busy", "a fault rule is in force",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("a failure does not show %q:\n%s", want, shown)
		}
	}
	if !f.fatal {
		t.Error("the test went on")
	}
}
