package store

import (
	"testing"
	"unsafe"
)

// TestBudget_Holder names the file that a fault is in.
func TestBudget_Holder(t *testing.T) {
	t.Parallel()
	s := started(t, quietOptions(t.TempDir()))
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if res := putTo(s, 0, false); !res.OK() {
		t.Fatalf("%+v", res)
	}
	f := s.log.file(0)
	if err := f.hold(); err != nil {
		t.Fatal(err)
	}
	defer f.drop()
	for want, address := range map[string]*byte{"commitlog/00000000000000000000": &f.b[len(f.b)-1], "a file of the store": new(byte)} {
		if got := s.budget.holder(pageFault(unsafe.Pointer(address))); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
