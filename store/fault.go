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
	if !ok {
		return nil, false
	}
	return pageFault(r.Addr()), true
}

// CatchFault makes such a fault the error of the function that defers it; any other panic goes on.
func CatchFault(err *error) {
	if p := recover(); p != nil {
		fault, ok := Fault(p)
		if !ok {
			panic(p)
		}
		*err = fault
	}
}

// pageFault is the fault at an address. The runtime's own words for it are those of a nil pointer.
type pageFault uintptr

func (f pageFault) Error() string {
	return fmt.Sprintf("the page at %#x of a mapped file cannot be read or written: the file was cut from outside, the disk is full, or it fails", uintptr(f))
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
