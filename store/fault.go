package store

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// errFault is why a store is not writable after a mapped file could not be written: its file
// was cut from outside, or the disk refuses to take the page.
var errFault = errors.New("a mapped file cannot be written")

// FaultOf is the error that a recovered panic stands for: the fault of an access to a mapped file, which
// debug.SetPanicOnFault makes of a bus error. Any other panic goes on. A Record's slice may cause one
// when its file was cut from outside.
func FaultOf(p any) error {
	fault, ok := p.(interface {
		runtime.Error
		Addr() uintptr
	})
	if !ok {
		panic(p)
	}
	return pageFault(fault.Addr())
}

// CatchFault makes such a fault the error of the function that defers it; any other panic goes on.
func CatchFault(err *error) {
	if p := recover(); p != nil {
		*err = FaultOf(p)
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
	fault := FaultOf(p)
	s.breakDown(fmt.Errorf("%w: %s: %w", errFault, s.budget.holder(fault), fault))
	return true
}

// holder is the file that a fault is in, as far as it is one of the log or of a queue.
func (b *budget) holder(fault error) string {
	var at pageFault
	b.mu.Lock()
	defer b.mu.Unlock()
	if errors.As(fault, &at) {
		for _, f := range b.mapped {
			if f.holds(uintptr(at)) {
				return f.name
			}
		}
	}
	return "a file of the store"
}

// holds tells whether an address is in the mapped file. It does not wait for one who maps or unmaps it.
func (f *file) holds(address uintptr) bool {
	if !f.mu.TryLock() {
		return false
	}
	defer f.mu.Unlock()
	if len(f.b) == 0 {
		return false
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(f.b)))
	return address >= start && address-start < uintptr(len(f.b))
}
