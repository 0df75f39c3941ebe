package testapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/wheelmq/wheelmq/fault"
)

func (a *API) faultRoutes() []route {
	const faults = Prefix + "faults"
	return []route{
		{
			method: http.MethodPost, path: faults, about: "make the server fail, here: refuse the next two sends to orders",
			body: `{"code":"SEND_MESSAGE_V2","topic":"orders","respond":"SYSTEM_BUSY","count":2}`, status: http.StatusCreated, serve: a.addFault,
		},
		{method: http.MethodGet, path: faults, about: "the fault rules", serve: a.faults},
		{method: http.MethodDelete, path: faults, about: "remove them all", serve: a.removeFaults},
		{
			method: http.MethodGet, path: faults + "/{id}", about: "wait until a fault rule has applied so often",
			example: faults + "/f1?hits=1&timeout=10s", params: []string{"hits", "timeout"}, serve: a.fault,
		},
		{method: http.MethodDelete, path: faults + "/{id}", about: "remove one", example: faults + "/f1", serve: a.removeFault},
	}
}

// faultState is a rule and what became of it.
type faultState struct {
	ID    string     `json:"id"`
	Rule  fault.Rule `json:"rule"`
	Hits  int64      `json:"hits"`
	Spent bool       `json:"spent"`
}

func stateOf(f *fault.Fault) faultState { return faultState{f.ID(), f.Rule(), f.Hits(), f.Spent()} }

// ruleMembers are the names that a rule has in JSON.
var ruleMembers = []string{
	"id", "code", "topic", "group", "skip", "count", "respond", "remark", "delayMs", "dropReply", "closeConn",
	"diskFull", "fsyncFails", "brokerMissing", "schedulerStalled",
}

func (a *API) addFault(r *request) (any, error) {
	body, there, err := r.body()
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, errNoBody
	}
	members, err := membersOf(body, "")
	if err != nil {
		return nil, err
	}
	for name := range members {
		if err := known("member", name, ruleMembers); err != nil {
			return nil, err
		}
	}
	var rule fault.Rule
	if err := rule.UnmarshalJSON(body); err != nil {
		return nil, err
	}
	f, err := a.control.AddFault(rule)
	if err != nil {
		return nil, err
	}
	return stateOf(f), nil
}

func (a *API) faults(*request) (any, error) {
	list := []faultState{}
	for _, f := range a.control.Faults() {
		list = append(list, stateOf(f))
	}
	return map[string][]faultState{"faults": list}, nil
}

func (a *API) removeFaults(*request) (any, error) {
	for _, f := range a.control.Faults() {
		f.Remove()
	}
	return nil, nil
}

func (a *API) fault(r *request) (any, error) {
	f, err := a.control.Fault(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	want, err := r.integer("hits")
	if err != nil {
		return nil, err
	}
	if count := int64(f.Rule().Count); count > 0 && want > count {
		return nil, invalid("hits=%d: the rule applies %d times", want, count)
	}
	ctx, cancel, err := r.wait()
	if err != nil {
		return nil, err
	}
	defer cancel()
	if err := f.Wait(ctx, want); err != nil {
		return nil, waited(r.Context(), err)
	}
	return stateOf(f), nil
}

// waited is how a wait for a rule has failed: in time, or because the rule went away.
func waited(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return timedOut("%v", err)
	default:
		return &problem{http.StatusNotFound, "not-found", err.Error()}
	}
}

func (a *API) removeFault(r *request) (any, error) {
	f, err := a.control.Fault(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	f.Remove()
	return nil, nil
}
