package store

import (
	"errors"
	"fmt"
	"runtime"
)

// errFault is why a store is not writable after a mapped file could not be written: its file
// was cut from outside, or the disk refuses to take the page.
var errFault = errors.New("a mapped file cannot be written")

// afterFault turns the fault of a write to a mapped file into a store that accepts nothing
// more; any other panic goes on. The goroutine must have debug.SetPanicOnFault on. It belongs
// into a defer, and reports whether there was a fault.
func (s *Store) afterFault(p any) bool {
	if p == nil {
		return false
	}
	fault, ok := p.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		panic(p)
	}
	s.breakDown(fmt.Errorf("%w: %v", errFault, fault))
	return true
}
