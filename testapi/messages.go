package testapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/control"
)

// dlqPrefix begins the name of a group's dead-letter topic.
const dlqPrefix = "%DLQ%"

func (a *API) messageRoutes() []route {
	const groups = Prefix + "groups"
	return []route{
		{
			method: http.MethodGet, path: Prefix + "messages", about: "messages of a topic",
			example: Prefix + "messages?topic=orders", params: []string{"topic", "limit"}, serve: a.messages,
		},
		{
			method: http.MethodPost, path: Prefix + "messages", about: "store a message as if a client had sent it",
			body: `{"topic":"orders","text":"hello","delayLevel":5}`, status: http.StatusCreated, serve: a.produce,
		},
		{method: http.MethodGet, path: Prefix + "topics", about: "the topics", serve: a.topics},
		{method: http.MethodGet, path: groups, about: "the consumer groups", serve: a.groups},
		{
			method: http.MethodGet, path: groups + "/{group}/lag", about: "how far a group is behind",
			example: groups + "/billing/lag?topic=orders", params: []string{"topic"}, serve: a.lag,
		},
		{
			method: http.MethodGet, path: groups + "/{group}/consumed", about: "wait until a group has consumed so many messages",
			example: groups + "/billing/consumed?atLeast=1&timeout=10s", params: []string{"atLeast", "timeout"}, serve: a.consumed,
		},
		{
			method: http.MethodGet, path: groups + "/{group}/dlq", about: "dead letters of a group",
			example: groups + "/billing/dlq", params: []string{"limit"}, serve: a.dlq,
		},
	}
}

// messageList are the first so many of all.
type messageList struct {
	Total    int               `json:"total"`
	Messages []control.Message `json:"messages"`
}

func (a *API) messages(r *request) (any, error) {
	topic := r.query.Get("topic")
	if topic == "" {
		return nil, invalid("want topic=… (a %% of its name is %%25 in a URL)")
	}
	return a.list(r, topic)
}

func (a *API) dlq(r *request) (any, error) {
	list, err := a.list(r, dlqPrefix+r.PathValue("group"))
	if errors.Is(err, control.ErrNotFound) {
		return messageList{0, []control.Message{}}, nil
	}
	return list, err
}

func (a *API) list(r *request, topic string) (any, error) {
	limit, err := r.limit()
	if err != nil {
		return nil, err
	}
	all, err := a.control.Messages(topic)
	if err != nil {
		return nil, err
	}
	first := make([]control.Message, min(limit, len(all)))
	copy(first, all)
	for n := range first {
		first[n].Body = present(first[n].Body)
	}
	return messageList{len(all), first}, nil
}

// produceBody is a message whose body may be given as text.
type produceBody struct {
	control.Produce
	Text *string `json:"text"`
}

func (a *API) produce(r *request) (any, error) {
	var body produceBody
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	switch {
	case body.Topic == "":
		return nil, invalid("want a topic")
	case body.Text != nil && body.Body != nil:
		return nil, invalid("both text and body: give one of the two")
	case body.Text != nil:
		body.Body = []byte(*body.Text)
	}
	return got(a.control.Produce(r.Context(), body.Produce))
}

func (a *API) topics(*request) (any, error) {
	return map[string][]string{"topics": present(a.control.Topics())}, nil
}

func (a *API) groups(*request) (any, error) {
	return map[string][]string{"groups": present(a.control.Groups())}, nil
}

func (a *API) lag(r *request) (any, error) {
	return got(a.control.Lag(r.PathValue("group"), r.query.Get("topic")))
}

// consumedCount is what a group has consumed.
type consumedCount struct {
	Group    string `json:"group"`
	Consumed int64  `json:"consumed"`
}

func (a *API) consumed(r *request) (any, error) {
	group := r.PathValue("group")
	want, err := r.integer("atLeast")
	if err != nil {
		return nil, err
	}
	ctx, cancel, err := r.wait()
	if err != nil {
		return nil, err
	}
	defer cancel()
	n, err := a.waitConsumed(ctx, group, want)
	if err == nil && n < want {
		err = timedOut("group %s has consumed %d messages, not %d", group, n, want)
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return got(consumedCount{group, n}, err)
}

// waitConsumed returns what was consumed when that is enough or the context has ended. The group
// may be one whose first consumer has yet to come.
func (a *API) waitConsumed(ctx context.Context, group string, want int64) (n int64, err error) {
	err = a.poll(ctx, func() (bool, error) {
		now, err := a.control.Consumed(ctx, group)
		switch {
		case err != nil && ctx.Err() != nil:
			return true, nil
		case want > 0 && errors.Is(err, control.ErrNotFound):
			return false, nil
		}
		n = now
		return n >= want, err
	})
	return n, err
}

// pause is between two looks at what nobody tells of.
const pause = 10 * time.Millisecond

// poll asks until the answer is true or an error, or the context has ended.
func (a *API) poll(ctx context.Context, done func() (bool, error)) error {
	timer := a.wire.NewTimer()
	defer timer.Disarm()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		timer.Arm(clock.Ceil(a.wire) + pause.Milliseconds())
		select {
		case <-timer.C():
		case <-ctx.Done():
			return nil
		}
	}
}
