package testapi

import (
	"math"
	"net/http"
)

// What a topic and a group have when nothing else is asked for, as with the real broker.
const (
	queuesDefault   = 4
	maxRetryDefault = 16
)

func (a *API) createRoutes() []route {
	return []route{
		{
			method: http.MethodPut, path: Prefix + "topics/{topic}", about: "make a topic",
			example: Prefix + "topics/orders?queues=4", params: []string{"queues"}, serve: a.createTopic,
		},
		{
			method: http.MethodPut, path: Prefix + "groups/{group}", about: "make a consumer group whose messages are retried so often",
			example: Prefix + "groups/billing?maxRetry=16", params: []string{"maxRetry"}, serve: a.createGroup,
		},
	}
}

// newTopic and newGroup are what was made.
type newTopic struct {
	Topic  string `json:"topic"`
	Queues int32  `json:"queues"`
}

type newGroup struct {
	Group    string `json:"group"`
	MaxRetry int32  `json:"maxRetry"`
}

func (a *API) createTopic(r *request) (any, error) {
	made := newTopic{r.PathValue("topic"), queuesDefault}
	var body struct {
		Queues *int32 `json:"queues"`
	}
	if err := r.either(&body, func() error { return r.small("queues", &body.Queues) }); err != nil {
		return nil, err
	}
	if body.Queues != nil {
		made.Queues = *body.Queues
	}
	if made.Queues < 1 {
		return nil, invalid("queues: %d, want 1 or more", made.Queues)
	}
	return got(made, a.control.CreateTopic(r.Context(), made.Topic, int(made.Queues)))
}

func (a *API) createGroup(r *request) (any, error) {
	made := newGroup{r.PathValue("group"), maxRetryDefault}
	var body struct {
		MaxRetry *int32 `json:"maxRetry"`
	}
	if err := r.either(&body, func() error { return r.small("maxRetry", &body.MaxRetry) }); err != nil {
		return nil, err
	}
	if body.MaxRetry != nil {
		made.MaxRetry = *body.MaxRetry
	}
	if made.MaxRetry < 0 {
		return nil, invalid("maxRetry: %d, want 0 or more", made.MaxRetry)
	}
	return got(made, a.control.CreateGroup(r.Context(), made.Group, int(made.MaxRetry)))
}

// small reads a parameter, if it is given, that fits into 32 bits.
func (r *request) small(name string, into **int32) error {
	if !r.has(name) {
		return nil
	}
	n, err := r.integer(name)
	if err != nil {
		return err
	}
	if n > math.MaxInt32 {
		return invalid("%s: %d is too much", name, n)
	}
	small := int32(n)
	*into = &small
	return nil
}
