package testapi

import (
	"context"
	"net/http"
	"time"

	"github.com/wheelmq/wheelmq/control"
)

func (a *API) pendingRoutes() []route {
	const pending, parked = Prefix + "pending", Prefix + "parked"
	return []route{
		{
			method: http.MethodGet, path: pending, about: "messages that wait for their time, in due order",
			example: pending + "?topic=orders&limit=10", params: []string{"topic", "key", "from", "to", "after", "limit"}, serve: a.pending,
		},
		{
			method: http.MethodGet, path: pending + "/counts", about: "how many there are by topic, or by the time they are due",
			example: pending + "/counts?step=1h", params: []string{"topic", "key", "from", "to", "step"}, serve: a.pendingCounts,
		},
		{
			method: http.MethodPost, path: pending + "/{id}/fire", about: "make one due now",
			example: pending + "/d1800000000-4096/fire", serve: a.fire,
		},
		{
			method: http.MethodPost, path: pending + "/{id}/reschedule", about: "give one another instant",
			example: pending + "/d1800000000-4096/reschedule?in=2h", params: []string{"at", "in"}, serve: a.reschedule,
		},
		{
			method: http.MethodDelete, path: pending + "/{id}", about: "cancel one",
			example: pending + "/d1800000000-4096", serve: a.cancel,
		},
		{method: http.MethodGet, path: parked, about: "messages that their topics refused", params: []string{"limit"}, serve: a.parked},
		{
			method: http.MethodPost, path: parked + "/{id}/redrive", about: "store one in its topic after all",
			example: parked + "/0/redrive", serve: a.changed(Control.Redrive),
		},
		{method: http.MethodDelete, path: parked + "/{id}", about: "forget one", example: parked + "/0", serve: a.changed(Control.DropParked)},
	}
}

// filter reads what is asked for of what pends.
func (r *request) filter() (f control.PendingFilter, err error) {
	f = control.PendingFilter{Topic: r.query.Get("topic"), Key: r.query.Get("key"), After: r.query.Get("after")}
	if f.FromMs, err = r.instant("from"); err != nil {
		return f, err
	}
	if f.ToMs, err = r.instant("to"); err != nil {
		return f, err
	}
	f.Limit, err = r.limit()
	return f, err
}

func (a *API) pending(r *request) (any, error) {
	f, err := r.filter()
	if err != nil {
		return nil, err
	}
	page, err := a.control.ListPending(r.Context(), f)
	for n := range page.Pending {
		page.Pending[n].Body = present(page.Pending[n].Body)
	}
	return got(page, err)
}

// pendingCounts is what GET /test/pending/counts answers.
type pendingCounts struct {
	Total  int64                  `json:"total"`
	Counts []control.PendingCount `json:"counts"`
}

func (a *API) pendingCounts(r *request) (any, error) {
	f, err := r.filter()
	if err != nil {
		return nil, err
	}
	var step time.Duration
	if r.has("step") {
		if step, err = r.duration("step"); err != nil {
			return nil, err
		}
		if step == 0 {
			return nil, invalid("step=%s: want a step of time", r.query.Get("step"))
		}
	}
	list, err := a.control.CountPending(r.Context(), f, step)
	counts := pendingCounts{Counts: present(list)}
	for _, c := range list {
		counts.Total += c.Messages
	}
	return got(counts, err)
}

func (a *API) fire(r *request) (any, error) {
	return nil, a.control.FireNow(context.WithoutCancel(r.Context()), r.PathValue("id"))
}

func (a *API) cancel(r *request) (any, error) {
	return nil, a.control.CancelPending(context.WithoutCancel(r.Context()), r.PathValue("id"))
}

// changed serves by a change of a parked message, which is not left half done.
func (a *API) changed(do func(Control, context.Context, string) error) func(*request) (any, error) {
	return func(r *request) (any, error) {
		return nil, do(a.control, context.WithoutCancel(r.Context()), r.PathValue("id"))
	}
}

// rescheduleBody is an instant, or how long from now: one of the two.
type rescheduleBody struct {
	At *instant  `json:"at"`
	In *duration `json:"in"`
}

// rescheduled is the ID of a message that has another instant.
type rescheduled struct {
	ID string `json:"id"`
}

func (a *API) reschedule(r *request) (any, error) {
	var body rescheduleBody
	if err := r.either(&body, func() error { return r.rescheduleQuery(&body) }); err != nil {
		return nil, err
	}
	if (body.At == nil) == (body.In == nil) {
		return nil, invalid("want either at or in, for example in=2h")
	}
	var at time.Time
	if body.At != nil {
		at = time.UnixMilli(int64(*body.At))
	} else {
		state, err := a.control.Clock()
		if err != nil {
			return nil, err
		}
		at = time.UnixMilli(state.NowMs).Add(time.Duration(*body.In))
	}
	id, err := a.control.Reschedule(context.WithoutCancel(r.Context()), r.PathValue("id"), at)
	return got(rescheduled{id}, err)
}

func (r *request) rescheduleQuery(body *rescheduleBody) error {
	if r.has("at") {
		ms, err := r.instant("at")
		if err != nil {
			return err
		}
		body.At = (*instant)(&ms)
	}
	if r.has("in") {
		d, err := r.duration("in")
		if err != nil {
			return err
		}
		body.In = (*duration)(&d)
	}
	return nil
}

// parkedList are the first so many of all.
type parkedList struct {
	Total  int64            `json:"total"`
	Parked []control.Parked `json:"parked"`
}

func (a *API) parked(r *request) (any, error) {
	limit, err := r.limit()
	if err != nil {
		return nil, err
	}
	list, total, err := a.control.Parked(r.Context(), limit)
	for n := range list {
		list[n].Body = present(list[n].Body)
	}
	return got(parkedList{total, present(list)}, err)
}
