package testapi

import (
	"net/http"
	"time"

	"github.com/wheelmq/wheelmq/control"
)

// limitDefault is how far AdvanceUntil turns the clock: beyond every chain of retries.
const limitDefault = 24 * time.Hour

func (a *API) clockRoutes() []route {
	const at = Prefix + "clock"
	return []route{
		{method: http.MethodGet, path: at, about: "where the clock stands", serve: a.clockState},
		{
			method: http.MethodPost, path: at + "/advance", about: "turn the clock on; everything due on the way is delivered when it is answered",
			example: at + "/advance?duration=2h", params: []string{"duration", "ms", "timeout"}, serve: a.advance,
		},
		{
			method: http.MethodPost, path: at + "/advance-to-next", about: "turn it to the next due instant",
			params: []string{"timeout"}, serve: a.advanceToNext,
		},
		{
			method: http.MethodPost, path: at + "/advance-until",
			about:   "turn it from due instant to due instant, while clients work, until group billing has a dead letter",
			example: at + "/advance-until?topic=%25DLQ%25billing&limit=5h",
			params:  []string{"topic", "messages", "group", "consumed", "idle", "limit", "timeout"}, serve: a.advanceUntil,
		},
		{
			method: http.MethodPut, path: at + "/auto-skip", about: "jump to the next due instant whenever nothing is in flight",
			example: at + "/auto-skip?on=true", params: []string{"on"}, serve: a.autoSkip,
		},
	}
}

func (a *API) clockState(*request) (any, error) { return got(a.control.Clock()) }

// got makes an answer of a value, or nothing of an error.
func got[T any](value T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return value, nil
}

// advanceBody is the body of advance: one of the two.
type advanceBody struct {
	Duration *duration `json:"duration"`
	Ms       *int64    `json:"ms"`
}

func (b *advanceBody) wanted() (time.Duration, error) {
	switch {
	case (b.Duration == nil) == (b.Ms == nil):
		return 0, invalid("want either duration or ms, for example duration=2h")
	case b.Duration != nil:
		return time.Duration(*b.Duration), nil
	case *b.Ms < 0:
		return 0, invalid("ms: %d is negative: time goes on only", *b.Ms)
	}
	d, err := milliseconds(*b.Ms)
	if err != nil {
		return 0, invalid("ms: %v", err)
	}
	return d, nil
}

func (a *API) advance(r *request) (any, error) {
	var body advanceBody
	if err := r.either(&body, func() error { return r.advanceQuery(&body) }); err != nil {
		return nil, err
	}
	d, err := body.wanted()
	if err != nil {
		return nil, err
	}
	ctx, cancel, err := r.patience()
	if err != nil {
		return nil, err
	}
	defer cancel()
	return got(a.control.Advance(ctx, d))
}

func (r *request) advanceQuery(body *advanceBody) error {
	if r.has("duration") {
		d, err := r.duration("duration")
		if err != nil {
			return err
		}
		body.Duration = (*duration)(&d)
	}
	if r.has("ms") {
		ms, err := r.integer("ms")
		if err != nil {
			return err
		}
		body.Ms = &ms
	}
	return nil
}

func (a *API) advanceToNext(r *request) (any, error) {
	ctx, cancel, err := r.patience()
	if err != nil {
		return nil, err
	}
	defer cancel()
	return got(a.control.AdvanceToNext(ctx))
}

// untilBody is the body of advance-until.
type untilBody struct {
	Until control.Until `json:"until"`
	Limit *duration     `json:"limit"`
}

func (a *API) advanceUntil(r *request) (any, error) {
	var body untilBody
	if err := r.either(&body, func() error { return r.untilQuery(&body) }); err != nil {
		return nil, err
	}
	limit, until := limitDefault, body.Until
	if body.Limit != nil {
		limit = time.Duration(*body.Limit)
	}
	if err := checkUntil(until); err != nil {
		return nil, err
	}
	ctx, cancel, err := r.patience()
	if err != nil {
		return nil, err
	}
	defer cancel()
	return got(a.control.AdvanceUntil(ctx, func() (bool, error) { return a.control.Holds(until) }, limit))
}

// checkUntil refuses a condition that always holds, and one of which a part would be passed over.
func checkUntil(u control.Until) error {
	switch {
	case u == control.Until{}:
		return invalid("no condition: want a topic, a group, or idle")
	case u.Messages < 0 || u.Consumed < 0:
		return invalid("a negative number of messages")
	case u.Messages > 0 && u.Topic == "":
		return invalid("messages without a topic")
	case u.Consumed > 0 && u.Group == "":
		return invalid("consumed without a group")
	}
	return nil
}

func (r *request) untilQuery(body *untilBody) (err error) {
	u := &body.Until
	u.Topic, u.Group = r.query.Get("topic"), r.query.Get("group")
	if u.Messages, err = r.integer("messages"); err != nil {
		return err
	}
	if u.Consumed, err = r.integer("consumed"); err != nil {
		return err
	}
	if u.Idle, err = r.flag("idle"); err != nil {
		return err
	}
	if r.has("limit") {
		d, err := r.duration("limit")
		if err != nil {
			return err
		}
		body.Limit = (*duration)(&d)
	}
	return nil
}

func (a *API) autoSkip(r *request) (any, error) {
	var body struct {
		On *bool `json:"on"`
	}
	err := r.either(&body, func() error {
		on, err := r.flag("on")
		if r.has("on") {
			body.On = &on
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case body.On == nil:
		return nil, invalid("want on=true or on=false")
	}
	if err := a.control.SetAutoSkip(*body.On); err != nil {
		return nil, err
	}
	return got(a.control.Clock())
}
