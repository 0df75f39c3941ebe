package region_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
)

func TestRegion_WrittenLeavesOutNothingThatWasWritten(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	for name, fs := range map[string]region.FS{"os": region.OS{Root: t.TempDir()}, "memory": region.NewMemory()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := fs.Open("file", size)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Reserve(0, size/2); err != nil {
				t.Fatal(err)
			}
			places := []int{5, 70_000, 70_001, size/2 - 1}
			for _, at := range places {
				r.Bytes()[at] = 1
			}
			covered := make(map[int]bool)
			for at := 0; ; {
				from, to := r.Written(at)
				if from == to {
					break
				}
				if from < at || to <= from || to > size {
					t.Fatalf("Written(%d) is %d to %d", at, from, to)
				}
				for _, p := range places {
					covered[p] = covered[p] || p >= from && p < to
				}
				at = to
			}
			for _, p := range places {
				if !covered[p] {
					t.Errorf("%d was written to", p)
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestRegion_ZeroIsAllOrNothing(t *testing.T) {
	t.Parallel()
	const size, page = 1 << 20, 4096
	for name, fs := range map[string]region.FS{"os": region.OS{Root: t.TempDir()}, "memory": region.NewMemory()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := fs.Open("file", size)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Reserve(0, size/2); err != nil {
				t.Fatal(err)
			}
			for _, at := range []int{page - 1, page, 70_000, size/2 - 1} {
				r.Bytes()[at] = 1
			}
			want := byte(1)
			if r.Zero(page, size) {
				want = 0
			}
			if b := r.Bytes(); b[page-1] != 1 || b[page] != want || b[70_000] != want || b[size/2-1] != want || len(b) != size {
				t.Errorf("after Zero the bytes are %d %d %d %d", b[page-1], b[page], b[70_000], b[size/2-1])
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
