package testapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/wheelmq/wheelmq/control"
	"github.com/wheelmq/wheelmq/fault"
)

// problem is an error that knows how it is answered.
type problem struct {
	status int
	kind   string // for programs, the enum of Error in openapi.yaml
	text   string // for people
}

// Error implements error.
func (p *problem) Error() string { return p.text }

func (p *problem) write(w http.ResponseWriter) error {
	body, err := json.Marshal(map[string]string{"error": p.text, "kind": p.kind})
	if err != nil {
		return fmt.Errorf("testapi: %w", err)
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(p.status)
	_, err = w.Write(append(body, '\n'))
	return err
}

func invalid(format string, args ...any) error {
	return &problem{http.StatusBadRequest, "invalid", fmt.Sprintf(format, args...)}
}

// timedOut is what a wait ends with when what it waits for did not happen.
func timedOut(format string, args ...any) error {
	return &problem{http.StatusRequestTimeout, "timeout", fmt.Sprintf(format, args...)}
}

// answers are how the errors of package control are answered. 408 is about real time that ran
// out, 409 about the state of the server, which trying again does not change.
var answers = []struct {
	err    error
	status int
	kind   string
}{
	{control.ErrInvalid, http.StatusBadRequest, "invalid"},
	{fault.ErrInvalid, http.StatusBadRequest, "invalid"},
	{control.ErrNotFound, http.StatusNotFound, "not-found"},
	{control.ErrRealClock, http.StatusConflict, "real-clock"},
	{control.ErrNothingPending, http.StatusConflict, "nothing-pending"},
	{control.ErrTooLate, http.StatusConflict, "too-late"},
	{control.ErrRefused, http.StatusConflict, "refused"},
	{control.ErrLimit, http.StatusConflict, "limit"},
	{control.ErrBusy, http.StatusRequestTimeout, "busy"},
	{context.DeadlineExceeded, http.StatusRequestTimeout, "busy"},
	{control.ErrDown, http.StatusServiceUnavailable, "stopping"},
	{context.Canceled, http.StatusServiceUnavailable, "stopping"},
}

func problemOf(err error) *problem {
	for _, a := range answers {
		if errors.Is(err, a.err) {
			return &problem{a.status, a.kind, err.Error()}
		}
	}
	return &problem{http.StatusInternalServerError, "internal", err.Error()}
}
