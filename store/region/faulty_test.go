package region_test

import (
	"errors"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
)

// faults are set by the test.
type faults struct{ space, sync error }

func (f *faults) NoSpace() error { return f.space }
func (f *faults) NoSync() error  { return f.sync }

var errPlanned = errors.New("planned")

func TestFaulty_NoSpace(t *testing.T) {
	t.Parallel()
	for name, under := range map[string]region.FS{"memory": region.NewMemory(), "disk": region.OS{Root: t.TempDir()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fillUp(t, under)
		})
	}
}

func fillUp(t *testing.T, under region.FS) {
	t.Helper()
	why := &faults{}
	tree := region.NewFaulty(under, why)
	piece := func(name string) region.Region {
		t.Helper()
		r, err := tree.Open(name, 8192)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if err := piece("d/kept").Reserve(0, 8192); err != nil {
		t.Fatal(err)
	}
	why.space = errPlanned
	if _, err := tree.Space(); !errors.Is(err, region.ErrNoSpace) || !errors.Is(err, errPlanned) {
		t.Errorf("space: %v", err)
	}
	more := piece("more")
	if err := more.Reserve(0, 4096); !errors.Is(err, region.ErrNoSpace) || !errors.Is(err, errPlanned) {
		t.Errorf("reserve: %v", err)
	}
	if err := tree.WriteFile("small", make([]byte, 10)); !errors.Is(err, region.ErrNoSpace) {
		t.Errorf("write: %v", err)
	}
	// What is removed is the only space there is.
	if err := errors.Join(tree.Remove("missing"), tree.Remove("d"), tree.WriteFile("small", nil)); err != nil {
		t.Fatal(err)
	}
	if err := more.Reserve(0, 4096); !errors.Is(err, region.ErrNoSpace) {
		t.Errorf("a directory gave space: %v", err)
	}
	why.space = nil
	if err := piece("d/kept").Reserve(0, 8192); err != nil {
		t.Fatal(err)
	}
	why.space = errPlanned
	if err := errors.Join(tree.Remove("d/kept"), more.Reserve(0, 4096), tree.WriteFile("small", make([]byte, 4096)), more.Reserve(4096, 8192)); err != nil {
		t.Error(err)
	}
	if err := more.Reserve(100, 8000); err != nil {
		t.Errorf("what is reserved needs no space: %v", err)
	}
	if err := piece("third").Reserve(0, 1); !errors.Is(err, region.ErrNoSpace) {
		t.Errorf("more went in than there was: %v", err)
	}
	why.space = nil
	if err := errors.Join(more.Reserve(0, 8192), tree.WriteFile("small", make([]byte, 10))); err != nil {
		t.Error(err)
	}
	if s, err := tree.Space(); err != nil || s.Free == 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestFaulty_NoSync(t *testing.T) {
	t.Parallel()
	why := &faults{}
	tree := region.NewFaulty(region.NewMemory(), why)
	r, err := tree.Open("f", 4096)
	if err != nil {
		t.Fatal(err)
	}
	for _, planned := range []error{nil, errPlanned, nil} {
		why.sync = planned
		for name, err := range map[string]error{
			"region": r.Sync(0, 10), "directory": tree.SyncDir("."), "all": tree.SyncAll(), "small file": tree.WriteFile("s", []byte("x")),
		} {
			if !errors.Is(err, planned) {
				t.Errorf("%s: %v, want %v", name, err, planned)
			}
		}
	}
}
