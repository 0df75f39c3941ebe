package region

import "sync/atomic"

// Killable is a tree over another one whose process can be killed without ending: from then on
// nothing reaches the small files and no name changes, and what was written to regions stays as
// it is, synced or not. A store opened after it finds what kill -9 leaves.
type Killable struct {
	FS
	killed atomic.Bool
}

// NewKillable returns a Killable over a tree.
func NewKillable(over FS) *Killable { return &Killable{FS: over} }

// Kill is the end of the process for the tree.
func (k *Killable) Kill() { k.killed.Store(true) }

// Open implements FS.
func (k *Killable) Open(name string, size int) (Region, error) {
	r, err := k.FS.Open(name, size)
	if err != nil {
		return nil, err
	}
	return killableRegion{r, k}, nil
}

// Remove implements FS.
func (k *Killable) Remove(name string) error {
	if k.killed.Load() {
		return nil
	}
	return k.FS.Remove(name)
}

// WriteFile implements FS.
func (k *Killable) WriteFile(name string, data []byte) error {
	if k.killed.Load() {
		return nil
	}
	return k.FS.WriteFile(name, data)
}

// SyncDir implements FS.
func (k *Killable) SyncDir(dir string) error {
	if k.killed.Load() {
		return nil
	}
	return k.FS.SyncDir(dir)
}

// SyncAll implements FS.
func (k *Killable) SyncAll() error {
	if k.killed.Load() {
		return nil
	}
	return k.FS.SyncAll()
}

type killableRegion struct {
	Region
	tree *Killable
}

func (r killableRegion) Sync(from, to int) error {
	if r.tree.killed.Load() {
		return nil
	}
	return r.Region.Sync(from, to)
}
