package store

import (
	"errors"
	"fmt"
	"runtime"
)

// errFault is why a store is not writable after a mapped file could not be written: its file
// was cut from outside, or the disk refuses to take the page.
var errFault = errors.New("a mapped file cannot be written")

// Fault tells whether a recovered panic is the fault of an access to a mapped file, which
// debug.SetPanicOnFault makes of a bus error, and returns it as an error. A Record's slice may
// cause one when its file was cut from outside.
func Fault(p any) (fault error, ok bool) {
	r, ok := p.(interface {
		runtime.Error
		Addr() uintptr
	})
	return r, ok
}

// afterFault turns the fault of a write to a mapped file into a store that accepts nothing
// more; any other panic goes on. It belongs into a defer, and reports whether there was a fault.
func (s *Store) afterFault(p any) bool {
	if p == nil {
		return false
	}
	fault, ok := Fault(p)
	if !ok {
		panic(p)
	}
	s.breakDown(fmt.Errorf("%w: %w", errFault, fault))
	return true
}
