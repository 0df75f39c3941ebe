package broker

import (
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/store/region"
)

// killable lets Kill keep a store on disk as it is.
func (b *Broker) killable(fs region.FS) region.FS {
	b.tree = region.NewKillable(fs)
	return b.tree
}

// Kill makes the broker one whose process was killed: nothing that its services still save
// reaches the disk. Close is due as ever. It has an effect on brokers for tests only, those with
// Options.Faults.
func (b *Broker) Kill() {
	b.killed.Store(true)
	if b.tree != nil {
		b.tree.Kill()
	}
}

// mortal are tables that are not saved any more once the broker is killed.
type mortal struct {
	persist.Dir
	b *Broker
}

// Save implements persist.Dir.
func (m mortal) Save(name string, v any) error {
	if m.b.killed.Load() {
		return nil
	}
	return m.Dir.Save(name, v)
}
