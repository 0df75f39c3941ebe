package store_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wheelmq/wheelmq/store/region"
)

// planted is a disk with a mistake in how it is used. Functions that are nil make none.
type planted struct {
	*region.Memory
	sync      func(name string, r region.Region, from, to int) error
	syncDir   func(dir string) error
	writeFile func(name string, data []byte) error
}

type plantedRegion struct {
	region.Region
	disk *planted
	name string
}

func (p *planted) Open(name string, size int) (region.Region, error) {
	r, err := p.Memory.Open(name, size)
	if err != nil || p.sync == nil {
		return r, err
	}
	return plantedRegion{r, p, name}, nil
}

func (r plantedRegion) Sync(from, to int) error { return r.disk.sync(r.name, r.Region, from, to) }

func (p *planted) SyncDir(dir string) error {
	if p.syncDir == nil {
		return p.Memory.SyncDir(dir)
	}
	return p.syncDir(dir)
}

func (p *planted) WriteFile(name string, data []byte) error {
	if p.writeFile == nil {
		return p.Memory.WriteFile(name, data)
	}
	return p.writeFile(name, data)
}

func inLog(name string) bool { return strings.HasPrefix(name, "commitlog/") }

// acknowledgedEarly syncs the log one time late.
func acknowledgedEarly(m *region.Memory) region.FS {
	late := func() error { return nil }
	return &planted{Memory: m, sync: func(name string, r region.Region, from, to int) error {
		if !inLog(name) {
			return r.Sync(from, to)
		}
		err := late()
		late = func() error { return r.Sync(from, to) }
		return err
	}}
}

// firstPageOnly syncs less than was asked for.
func firstPageOnly(m *region.Memory) region.FS {
	return &planted{Memory: m, sync: func(_ string, r region.Region, from, to int) error {
		return r.Sync(from, min(to, from+4096))
	}}
}

func renamedUnsynced(m *region.Memory) region.FS {
	return &planted{Memory: m, writeFile: m.WriteFileUnsynced}
}

// logDirUnsynced makes neither new files' names durable nor the end of old ones'.
func logDirUnsynced(m *region.Memory) region.FS {
	return &planted{Memory: m, syncDir: func(dir string) error {
		if dir == "commitlog" {
			return nil
		}
		return m.SyncDir(dir)
	}}
}

// cutNotCleared forgets to sync what recovery zeroes behind the log's end.
func cutNotCleared(m *region.Memory) region.FS {
	return &planted{Memory: m, sync: func(name string, r region.Region, from, to int) error {
		if inLog(name) && from > 0 && to == len(r.Bytes()) && len(strings.Trim(string(r.Bytes()[from:to]), "\x00")) == 0 {
			return nil
		}
		return r.Sync(from, to)
	}}
}

// TestPowerCut_PlantedBugs_AreFound breaks the rules one by one: a workload that does not
// notice would not notice the like in the store.
func TestPowerCut_PlantedBugs_AreFound(t *testing.T) {
	t.Parallel()
	for _, bug := range []struct {
		what  string
		plant func(*region.Memory) region.FS
		eager bool
		rare  bool // under ASYNC_FLUSH
	}{
		{what: "acknowledged before the sync", plant: acknowledgedEarly},
		{what: "synced in part", plant: firstPageOnly},
		{what: "renamed without a sync", plant: renamedUnsynced},
		{what: "directory not synced after a file was made", plant: logDirUnsynced},
		{what: "cut and not cleared", plant: cutNotCleared, rare: true},
		{what: "offsets saved before what they stand for", eager: true},
	} {
		for _, syncFlush := range []bool{true, false} {
			if bug.rare && !syncFlush {
				continue
			}
			t.Run(fmt.Sprintf("%s, sync flush %v", bug.what, syncFlush), func(t *testing.T) {
				t.Parallel()
				var clones atomic.Int64
				for seed := range uint64(60) {
					w := newWorkload(1000+seed, syncFlush, &clones)
					w.plant, w.eager = bug.plant, bug.eager
					if err := w.run(); err != nil {
						t.Logf("after %d disks: %v", clones.Load(), err)
						return
					}
				}
				t.Errorf("%d disks did not show it", clones.Load())
			})
		}
	}
}
