package timer_test

import (
	"math/rand/v2"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
)

// TestFar_GrowsOnAfterAnOpen adds to segments whose last page is in use when they are opened: what
// is made ready ahead must leave it as it is.
func TestFar_GrowsOnAfterAnOpen(t *testing.T) {
	t.Parallel()
	const chunk = 1 << 20
	for name, fs := range map[string]region.FS{"os": region.OS{Root: t.TempDir()}, "memory": region.NewMemory()} {
		var log []logged
		rng := rand.New(rand.NewPCG(7, uint64(chunk)))
		var d *driver
		for range 3 {
			d = newDriver(fs, &log, chunk)
			if err := d.open(anyEnd); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			d.now = max(d.now, noon)
			send(rng, &log, d.now, 100)
			for _, step := range []func() error{d.jobs, d.take, d.save, func() error { return d.tl.Close() }} {
				if err := step(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
		d = newDriver(fs, &log, chunk)
		if err := d.open(anyEnd); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := d.deliver(noon + 61*86_400); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := d.complete(nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := d.tl.Close(); err != nil {
			t.Error(err)
		}
	}
}
