package testapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wheelmq/wheelmq/config"
)

const (
	// bodyLimit is in bytes: a message of 4 MiB in base64, with room.
	bodyLimit = 8 << 20
	// waitDefault and waitMax are how long a request waits for what may not happen.
	waitDefault, waitMax = 10 * time.Second, time.Hour
	// listDefault is how many entries of a list are returned.
	listDefault = 1000
)

// request is a request whose query was looked through.
type request struct {
	*http.Request
	query url.Values
}

// parseQuery returns the query; only the named parameters, each once, may be in it.
func parseQuery(r *http.Request, params []string) (url.Values, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, invalid("the query: %v: %% is written %%25 in a URL", err)
	}
	for name, values := range query {
		if err := known("parameter", name, params); err != nil {
			return nil, err
		}
		if len(values) > 1 {
			return nil, invalid("the parameter %s is there %d times", name, len(values))
		}
	}
	return query, nil
}

// known refuses a name that is not among the names, and says which was probably meant.
func known(what, name string, names []string) error {
	switch near := config.Nearest(name, names); {
	case slices.Contains(names, name):
		return nil
	case near != "":
		return invalid("unknown %s %q: did you mean %s?", what, name, near)
	case len(names) == 0:
		return invalid("unknown %s %q: none is known here", what, name)
	default:
		return invalid("unknown %s %q: known are %s", what, name, strings.Join(names, ", "))
	}
}

// body reads the body and tells whether there is one.
func (r *request) body() (body []byte, there bool, err error) {
	body, err = io.ReadAll(r.Request.Body)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, false, &problem{http.StatusRequestEntityTooLarge, "too-large", "the body is larger than " + strconv.FormatInt(tooLarge.Limit, 10) + " bytes"}
	}
	if err != nil {
		return nil, false, invalid("the body: %v", err)
	}
	return body, len(strings.TrimSpace(string(body))) > 0, nil
}

var errNoBody = invalid("want a JSON body, see GET %sopenapi.yaml", Prefix)

// decode reads a body that must be there.
func (r *request) decode(into any) error {
	body, there, err := r.body()
	if err != nil {
		return err
	}
	if !there {
		return errNoBody
	}
	return decodeJSON(body, into)
}

// either reads what a request gives in its body, or else in its query. The two are never mixed,
// but for the timeout, which is in the query only.
func (r *request) either(into any, fromQuery func() error) error {
	body, there, err := r.body()
	if err != nil {
		return err
	}
	if !there {
		return fromQuery()
	}
	for name := range r.query {
		if name != "timeout" {
			return invalid("the parameter %s beside a body: give one of the two", name)
		}
	}
	return decodeJSON(body, into)
}

func (r *request) has(name string) bool { return r.query.Has(name) }

// integer is a parameter from 0 up; 0 when it is not given.
func (r *request) integer(name string) (int64, error) {
	if !r.has(name) {
		return 0, nil
	}
	n, err := strconv.ParseInt(r.query.Get(name), 10, 64)
	if err != nil || n < 0 {
		return 0, invalid("%s=%q: want an integer from 0", name, r.query.Get(name))
	}
	return n, nil
}

// duration is a parameter in Go's syntax or in ms.
func (r *request) duration(name string) (time.Duration, error) {
	d, err := parseDuration(r.query.Get(name))
	if err != nil {
		return 0, invalid("%s: %v", name, err)
	}
	return d, nil
}

// flag is a parameter that is true or false; false when it is not given.
func (r *request) flag(name string) (bool, error) {
	switch text := r.query.Get(name); {
	case !r.has(name) || text == "false":
		return false, nil
	case text == "true":
		return true, nil
	default:
		return false, invalid("%s=%q: want true or false", name, text)
	}
}

// limit is how many entries are asked for.
func (r *request) limit() (int, error) {
	if !r.has("limit") {
		return listDefault, nil
	}
	n, err := r.integer("limit")
	return int(min(n, 1<<30)), err
}

// patience bounds by the parameter timeout how long the clients may work; without it the
// server's own patience holds.
func (r *request) patience() (context.Context, context.CancelFunc, error) {
	if !r.has("timeout") {
		return r.Context(), func() {}, nil
	}
	return r.wait()
}

// wait bounds a request that waits, by the parameter timeout.
func (r *request) wait() (context.Context, context.CancelFunc, error) {
	d := waitDefault
	if r.has("timeout") {
		var err error
		if d, err = r.duration("timeout"); err != nil {
			return nil, nil, err
		}
	}
	if d > waitMax {
		return nil, nil, invalid("timeout: %v is more than %v", d, waitMax)
	}
	ctx, cancel := context.WithTimeout(r.Context(), d)
	return ctx, cancel, nil
}
