package testapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/control"
	"github.com/wheelmq/wheelmq/fault"
)

// TestWhatMakesNoSense_IsRefused needs no server: nothing of it reaches one.
func TestWhatMakesNoSense_IsRefused(t *testing.T) {
	t.Parallel()
	a := New(Options{Log: quiet()})
	for _, c := range []struct{ method, target, body, want string }{
		{"POST", "clock/advance", "", "either duration or ms"},
		{"POST", "clock/advance", `{}`, "either duration or ms"},
		{"POST", "clock/advance", `{"duration":null}`, "either duration or ms"},
		{"POST", "clock/advance?duration=2h&ms=5", "", "either duration or ms"},
		{"POST", "clock/advance?dration=2h", "", `unknown parameter "dration": did you mean duration?`},
		{"POST", "clock/advance?duration=2h&duration=3h", "", "the parameter duration is there 2 times"},
		{"POST", "clock/advance?duration=2hours", "", "is no duration"},
		{"POST", "clock/advance?duration=", "", "is no duration"},
		{"POST", "clock/advance?duration=-2h", "", "is negative"},
		{"POST", "clock/advance?duration=9223372036854775807", "", "is no duration"},
		{"POST", "clock/advance?ms=-1", "", "want an integer from 0"},
		{"POST", "clock/advance?ms=9223372036854775807", "", "are more than"},
		{"POST", "clock/advance?duration=2h&timeout=soon", "", "timeout: "},
		{"POST", "clock/advance?duration=2h&timeout=2h", "", "is more than 1h"},
		{"POST", "clock/advance?duration=%", "", "% is written %25"},
		{"POST", "clock/advance?duration=2h", `{"ms":5}`, "beside a body"},
		{"POST", "clock/advance", `{"druation":"2h"}`, `unknown member "druation": did you mean duration?`},
		{"POST", "clock/advance", `{"nonsense":"2h"}`, `known are duration, ms`},
		{"POST", "clock/advance", `{"duration":true}`, "is no duration"},
		{"POST", "clock/advance", `{"duration":"x"}`, "is no duration"},
		{"POST", "clock/advance", `{"ms":-5}`, "is negative"},
		{"POST", "clock/advance", `{"ms":1.5}`, "ms: a number 1.5, want an integer"},
		{"POST", "clock/advance", `{"ms":9223372036854775807}`, "are more than"},
		{"POST", "clock/advance", `{"ms":5} {"ms":6}`, "want one JSON object"},
		{"POST", "clock/advance", `{"ms":5`, "want one JSON object"},
		{"POST", "clock/advance", `[5]`, "want one JSON object"},
		{"POST", "clock/advance", `null`, "want a JSON object"},
		{"POST", "clock/advance-until", "", "no condition"},
		{"POST", "clock/advance-until", `{"until":{}}`, "no condition"},
		{"POST", "clock/advance-until", `{"until":null}`, "until: want a JSON object"},
		{"POST", "clock/advance-until", `{"until":{"topick":"T"}}`, `unknown member "until.topick": did you mean until.topic?`},
		{"POST", "clock/advance-until", `{"until":{"topic":7}}`, "until.topic: a number, want text"},
		{"POST", "clock/advance-until", `{"until":{"messages":2}}`, "messages without a topic"},
		{"POST", "clock/advance-until?consumed=2", "", "consumed without a group"},
		{"POST", "clock/advance-until", `{"until":{"topic":"T","messages":-2}}`, "negative number"},
		{"POST", "clock/advance-until?idle=yes", "", "want true or false"},
		{"POST", "clock/advance-until?topic=T&limit=-5h", "", "is negative"},
		{"POST", "clock/advance-until?topic=T&messages=many", "", "messages=\"many\": want an integer"},
		{"POST", "clock/advance-to-next?timeout=x", "", "is no duration"},
		{"PUT", "clock/auto-skip", "", "want on=true or on=false"},
		{"PUT", "clock/auto-skip?on=1", "", "want true or false"},
		{"PUT", "clock/auto-skip", `{"on":"true"}`, "on: a string, want true or false"},
		{"GET", "messages", "", "want topic="},
		{"GET", "messages?topic=%RETRY%g", "", "% is written %25"},
		{"GET", "messages?topic=T&limit=-1", "", "want an integer from 0"},
		{"GET", "pending?limit=all", "", "want an integer from 0"},
		{"GET", "clock?x=1", "", "none is known here"},
		{"POST", "messages", "", "want a JSON body"},
		{"POST", "messages", `{"text":"hello"}`, "want a topic"},
		{"POST", "messages", `{"topic":"T","text":"a","body":"YQ=="}`, "both text and body"},
		{"POST", "messages", `{"topic":"T","body":"?"}`, "the body: "},
		{"POST", "messages", `{"topic":"T","delaylevel":3}`, `did you mean delayLevel?`},
		{"GET", "groups/g/consumed?atLeast=x", "", "want an integer from 0"},
		{"GET", "groups/g/consumed?atLeast=1&timeout=x", "", "is no duration"},
		{"PUT", "topics/T?queues=0", "", "want 1 or more"},
		{"PUT", "topics/T?queues=4294967297", "", "too much"},
		{"PUT", "topics/T", `{"queues":-1}`, "want 1 or more"},
		{"PUT", "topics/T", `{"queue":1}`, "did you mean queues?"},
		{"PUT", "groups/G", `{"maxRetry":-1}`, "want 0 or more"},
		{"PUT", "groups/G?maxRetry=x", "", "want an integer from 0"},
		{"POST", "faults", "", "want a JSON body"},
		{"POST", "faults", `[]`, "want one JSON object"},
		{"POST", "faults", `{"nonsense":5}`, "known are id, code"},
		{"POST", "faults", `{"delayMS":5}`, `did you mean delayMs?`},
		{"POST", "faults", `{"respond":"SYSTEM_BSY"}`, "SYSTEM_BSY"},
		{"GET", "exchanges?format=xml", "", "want json or text"},
	} {
		t.Run(c.method+" "+c.target+" "+c.body, func(t *testing.T) {
			t.Parallel()
			path, query, _ := strings.Cut(c.target, "?")
			w := ask(a, c.method, Prefix+path, c.body, func(r *http.Request) { r.URL.RawQuery = query })
			wantProblem(t, w, http.StatusBadRequest, "invalid", c.want)
		})
	}
}

func TestOtherPathsAndMethods(t *testing.T) {
	t.Parallel()
	a := New(Options{Log: quiet()})
	wantProblem(t, ask(a, "GET", Prefix+"clocks", "", nil), http.StatusNotFound, "not-found", "GET /test/ lists")
	wantProblem(t, ask(a, "POST", Prefix, "", nil), http.StatusMethodNotAllowed, "method", "[GET]")
	w := ask(a, "PATCH", Prefix+"messages", "", nil)
	wantProblem(t, w, http.StatusMethodNotAllowed, "method", "[GET POST]")
	if allow := w.Header().Values("Allow"); len(allow) != 2 {
		t.Errorf("Allow: %v", allow)
	}
}

func TestBody_IsBounded(t *testing.T) {
	t.Parallel()
	body := `{"topic":"T","text":"` + strings.Repeat("x", bodyLimit) + `"}`
	wantProblem(t, ask(New(Options{Log: quiet()}), "POST", Prefix+"messages", body, nil), http.StatusRequestEntityTooLarge, "too-large", "8388608")
}

func TestPanic_EndsOneRequest(t *testing.T) {
	t.Parallel()
	wantProblem(t, ask(New(Options{Log: quiet()}), "GET", Prefix+"clock", "", nil), http.StatusInternalServerError, "internal", "panic")
}

func TestErrorsOfControl_HaveTheirStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		kind   string
	}{
		{control.ErrInvalid, 400, "invalid"},
		{fault.ErrInvalid, 400, "invalid"},
		{control.ErrDown, 503, "stopping"},
		{control.ErrNotFound, 404, "not-found"},
		{control.ErrRealClock, 409, "real-clock"},
		{control.ErrNothingPending, 409, "nothing-pending"},
		{control.ErrLimit, 409, "limit"},
		{control.ErrRefused, 409, "refused"},
		{control.ErrBusy, 408, "busy"},
		{context.DeadlineExceeded, 408, "busy"},
		{context.Canceled, 503, "stopping"},
		{errors.New("disk"), 500, "internal"},
	} {
		p := problemOf(fmt.Errorf("control: what: %w", c.err))
		if p.status != c.status || p.kind != c.kind || !strings.Contains(p.text, c.err.Error()) {
			t.Errorf("%v is answered with %+v", c.err, p)
		}
	}
}

func TestDuration_BothWays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		`"2h"`: 2 * time.Hour, `"1m30s"`: 90 * time.Second, `"250"`: 250 * time.Millisecond, `1500`: 1500 * time.Millisecond, `0`: 0,
	} {
		var d duration
		if err := json.Unmarshal([]byte(text), &d); err != nil || time.Duration(d) != want {
			t.Errorf("%s is %v, %v; want %v", text, time.Duration(d), err, want)
		}
	}
}

func TestRuleMembers_AreThoseOfARule(t *testing.T) {
	t.Parallel()
	full, err := json.Marshal(fault.Rule{
		ID: "f", Code: 1, Topic: "t", Group: "g", Skip: 1, Count: 1, Respond: 1, Remark: "r", Delay: time.Second, DropReply: true,
		CloseConn: true, DiskFull: true, FsyncFails: true, BrokerMissing: true, SchedulerStalled: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	members, err := membersOf(full, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range ruleMembers {
		if _, there := members[name]; !there {
			t.Errorf("a rule has no %s", name)
		}
		delete(members, name)
	}
	if len(members) > 0 {
		t.Errorf("rules also have %v", members)
	}
}
