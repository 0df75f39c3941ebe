package main

import (
	"errors"
	"fmt"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/remoting"
)

// Exit codes, beside 0 and, for whatever else goes wrong, 1.
const (
	exitNotFound = 3 // what is named does not exist, or does not wait any more
	exitTooLate  = 4 // it is delivered, or on its way
	exitRefused  = 5 // by a server
	exitNobody   = 6 // nobody answers
	exitOver     = 7 // more than a limit that was given
)

// Exit codes of the store commands, beside 0 for a sound store.
const (
	exitDamaged = 1
	exitNoStore = 2
)

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	err  error
}

// Error implements error.
func (e *exitError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *exitError) Unwrap() error { return e.err }

// withExitCode gives an error the exit code that scripts tell it by.
func withExitCode(err error) error {
	var (
		exit    *exitError
		gone    *admin.UnreachableError
		refusal *remoting.Error
	)
	switch {
	case err == nil || errors.As(err, &exit):
		return err
	case errors.Is(err, admin.ErrNotFound):
		return &exitError{exitNotFound, err}
	case errors.As(err, &gone):
		return &exitError{exitNobody, fmt.Errorf("%w: wheelmq doctor looks for the reason", err)}
	case errors.As(err, &refusal) && refusal.Code == remoting.RequestCodeNotSupported:
		return &exitError{exitRefused, fmt.Errorf("%w: is it the port of a name server? wheelmq doctor tells", err)}
	case errors.As(err, &refusal):
		return &exitError{exitRefused, err}
	}
	return err
}
