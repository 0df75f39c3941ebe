package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
)

// ErrInvalid is wrapped for a rule that makes no sense; the text says why.
var ErrInvalid = errors.New("invalid fault rule")

// Rule is a fault: exactly one of its actions, and when it applies. The first four actions are
// of requests; Respond and CloseConn take them as they come, Delay and DropReply their answers
// as they leave, so that they bite on a pull too that was held before the rule was added. The
// other actions are states of the server, from Add until Remove.
type Rule struct {
	// ID names the rule; empty: f1, f2 …
	ID string
	// Code is the request code that the rule applies to; 0: every request, to name server and
	// broker. SendMessage and SendMessageV2 both stand for every send, batches (320) too: which of
	// the codes a client uses for send(message) is its own affair. SendBatchMessage stands for
	// batches only, and PullMessage for lite pulls (361) too.
	Code int32
	// Topic and Group of the request, as its header names them; empty: any. A retry is pulled
	// from the topic %RETRY%group. Of heartbeats neither is known.
	Topic, Group string
	// Skip requests are let through first; after Count the rule is spent, 0: never.
	Skip, Count int

	// Respond answers with this response code and Remark, and does not execute. Exceptions are
	// FLUSH_DISK_TIMEOUT, SLAVE_NOT_AVAILABLE and FLUSH_SLAVE_TIMEOUT, which tell a producer that
	// its message is stored: these requests are executed.
	Respond int32
	Remark  string
	// Delay executes, and holds the answer back that long, in real time.
	Delay time.Duration
	// DropReply executes and never answers: the client times out, and sends again if it does so.
	DropReply bool
	// CloseConn closes the connection instead of an answer, and does not execute.
	CloseConn bool

	// DiskFull makes the store find no space: clients' records are refused, and nothing is
	// deleted for it. Hits are the sends and send-backs that were refused.
	DiskFull bool
	// FsyncFails makes syncs of the store fail. The first one makes the store refuse everything
	// until it is opened again, as a real one does: Remove, then a restart, heals it. Hits are
	// how often the store broke down.
	FsyncFails bool
	// BrokerMissing makes the name server answer as if the broker of this instance were not
	// registered, about Topic or in all. Clients keep the routes that they have. Hits are answers.
	BrokerMissing bool
	// SchedulerStalled withholds due messages. Hits are how often there was something to withhold.
	SchedulerStalled bool
}

// action is what a rule does, for texts: the field's name in JSON.
type action string

const (
	respond          action = "respond"
	delay            action = "delayMs"
	dropReply        action = "dropReply"
	closeConn        action = "closeConn"
	diskFull         action = "diskFull"
	fsyncFails       action = "fsyncFails"
	brokerMissing    action = "brokerMissing"
	schedulerStalled action = "schedulerStalled"
)

// actions are those that are set.
func (r *Rule) actions() (list []action) {
	for _, a := range []struct {
		action action
		set    bool
	}{
		{respond, r.Respond != 0}, {delay, r.Delay != 0}, {dropReply, r.DropReply}, {closeConn, r.CloseConn},
		{diskFull, r.DiskFull}, {fsyncFails, r.FsyncFails}, {brokerMissing, r.BrokerMissing}, {schedulerStalled, r.SchedulerStalled},
	} {
		if a.set {
			list = append(list, a.action)
		}
	}
	return list
}

// ofRequests tells whether an action is one of requests, rather than a state of the server.
func (a action) ofRequests() bool {
	return a == respond || a == delay || a == dropReply || a == closeConn
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("fault: %w: "+format, append([]any{ErrInvalid}, args...)...)
}

// Check tells why a rule makes no sense; the error wraps ErrInvalid.
func (r *Rule) Check() error {
	all := r.actions()
	switch {
	case len(all) == 0:
		return invalid("it has no action: set one of respond, delayMs, dropReply, closeConn, diskFull, fsyncFails, brokerMissing, schedulerStalled")
	case len(all) > 1:
		return invalid("it has the actions %s: set one, and add a rule for each other", join(all))
	case strings.ContainsAny(r.ID, "/ \t\r\n"):
		return invalid("id %q: it must not have blanks or slashes", r.ID)
	case r.Skip < 0:
		return invalid("skip is %d, want 0 or more", r.Skip)
	case r.Count < 0:
		return invalid("count is %d, want 0 (until it is removed) or more", r.Count)
	case r.Code < 0:
		return invalid("code is %d, want a request code, or 0 for every request", r.Code)
	case r.Delay < 0:
		return invalid("delayMs is %d, want more than 0", r.Delay.Milliseconds())
	case r.Respond < 0:
		return invalid("respond is %d, want a response code", r.Respond)
	case r.Remark != "" && all[0] != respond:
		return invalid("remark goes with respond, not with %s", all[0])
	case all[0].ofRequests():
		return r.checkTarget()
	}
	return r.checkState(all[0])
}

// checkTarget refuses what would never match: requests whose header names no topic or group.
func (r *Rule) checkTarget() error {
	if r.Code == remoting.HeartBeat && (r.Topic != "" || r.Group != "") {
		return invalid("the header of HEART_BEAT names neither topic nor group: leave both empty")
	}
	return nil
}

func (r *Rule) checkState(a action) error {
	switch {
	case r.Code != 0:
		return invalid("%s is a state of the server, not of requests: it takes no code", a)
	case r.Group != "":
		return invalid("%s is a state of the server, not of requests: it takes no group", a)
	case r.Topic != "" && a != brokerMissing:
		return invalid("%s is a state of the server, not of requests: it takes no topic", a)
	case (r.Skip != 0 || r.Count != 0) && a != brokerMissing:
		return invalid("%s lasts until it is removed: it takes neither skip nor count", a)
	}
	return nil
}

func join(all []action) string {
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = string(a)
	}
	return strings.Join(names, ", ")
}

// executed tells whether a response code says that the request was executed.
func executed(code int32) bool {
	return code == remoting.FlushDiskTimeout || code == remoting.SlaveNotAvailable || code == remoting.FlushSlaveTimeout
}

// matches tells whether the rule is about a request.
func (r *Rule) matches(code int32, topic, group string) bool {
	return r.matchesCode(code) && (r.Topic == "" || r.Topic == topic) && (r.Group == "" || r.Group == group)
}

func (r *Rule) matchesCode(code int32) bool {
	switch r.Code {
	case 0, code:
		return true
	case remoting.SendMessage, remoting.SendMessageV2:
		return code == remoting.SendMessage || code == remoting.SendMessageV2 || code == remoting.SendBatchMessage
	case remoting.PullMessage:
		return code == remoting.LitePullMessage
	}
	return false
}
